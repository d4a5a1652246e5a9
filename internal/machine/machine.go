package machine

import (
	"errors"
	"fmt"
)

// ErrTrace is returned for a trace that does not fit the blocks that were announced.
var ErrTrace = errors.New("trace does not fit its blocks")

// warm is how often a pair of consecutive blocks is sent through the pipeline; after that
// its mean cost of the second half of those stands.
const warm = 32

// Machine is a described machine with all its state.
type Machine struct {
	d       *Description
	lat     [NumClasses]uint16
	blocks  []blockState
	hot     []hotBlock // of the same blocks, what Run needs each time
	cores   []core
	caches  hierarchy
	bus     *queue
	memory  []*queue
	busy    uint64 // cycles that the bus is busy with a line
	second  uint64 // cycles that the second level takes longer than the first
	third   uint64 // and the third, if there is one, than the second
	events  []Event
	share   map[Site]*Sharing
	samples []Sample
	erased  map[uint64]KindSet // by address of the instruction
	losses  uint64             // accesses that found their line taken by another core
	fights  uint64             // losses of lines that had been lost shortly before
	shift   uint               // log2 of the line size
	page    uint               // log2 of the page size
}

// blockState is a block and what the machine has learnt of it.
type blockState struct {
	Block
	chase  []bool    // per instruction
	events []int32   // instruction x kind -> event + 1; nil until the first
	missed []uint32  // instruction x contended or not -> accesses that missed; nil until the first
	erased []KindSet // per instruction; nil if nothing is
	costs  []pairCost
	lines  [2]uint64 // first and last code line
}

// pairCost is the cost of a block behind a given other one.
type pairCost struct {
	prev BlockID
	seen uint32
	sum  uint64 // 1/scale cycles, over the second half of the warm-up
	cost uint64 // 1/scale cycles, once warm
}

// Sharing tells how lines were lost to other cores at one instruction.
type Sharing struct {
	True, False uint64 // by whether the bytes used here had been written there
	Other       Site   // the place that took most of them (majority vote)
	votes       int64
}

// New builds a machine; cores over 0 overrides the number in the description.
func New(d *Description, cores int) (*Machine, error) {
	copied := *d
	if cores > 0 {
		copied.Cores = cores
		copied.Memory.Nodes = min(copied.Memory.Nodes, cores)
	}
	if key, problem := copied.check(); problem != "" {
		return nil, fmt.Errorf("machine %s: key %q: %s", d.Name, key, problem)
	}
	d = &copied
	m := &Machine{
		d: d, lat: latencies(), share: map[Site]*Sharing{}, erased: map[uint64]KindSet{},
		shift: uint(trailingZeros(uint64(d.LineBytes))), page: uint(trailingZeros(uint64(d.PageBytes))),
	}
	m.second = uint64(max(d.L2.Latency-d.L1D.Latency, 0))
	m.third = uint64(max(d.L3.Latency-d.L2.Latency, 0))
	m.buildCaches()
	for range d.Cores {
		m.cores = append(m.cores, newCore(d))
	}
	if d.Bus.Width > 0 {
		m.busy = uint64((d.LineBytes + d.Bus.Width - 1) / d.Bus.Width * d.Bus.Cycles)
		m.bus = newQueue(int(m.busy), max(1, d.Bus.Width/d.LineBytes)) // a beat of a wide one carries several lines
	}
	for range d.Memory.Channels {
		m.memory = append(m.memory, newQueue(d.Memory.Cycles, 1))
	}
	return m, nil
}

func (m *Machine) buildCaches() {
	sets := func(c CacheDesc) int { return int(c.Size) / (c.Ways * m.d.LineBytes) }
	build := func(c CacheDesc) *array { return newArray(sets(c), c.Ways, c.policy()) }
	m.caches.frames = newFrames(m.page-m.shift, uint64(m.d.Memory.Seed))
	m.caches.contended = make([]uint8, contendedSlots)
	for range m.d.Cores {
		l1d, l2 := build(m.d.L1D), (*array)(nil)
		if !m.d.L2.Shared {
			l2 = build(m.d.L2)
		}
		m.caches.cores = append(m.caches.cores, newPrivates(build(m.d.L1I), l1d, l2, newFilter(l1d, m.shift, m.caches.contended)))
	}
	last := m.d.lastLevel()
	m.caches.dir = newDirectory(sets(last), last.Ways, last.policy(), m.d.Cores)
	for p := range uint64(Placements) {
		e := elsewhere{seed: m.caches.frames.seed + p + 1, last: newRecency(sets(last), last.Ways)}
		for range m.d.Cores {
			if !m.d.L2.Shared {
				e.l2 = append(e.l2, newRecency(sets(m.d.L2), m.d.L2.Ways))
			}
		}
		m.caches.others = append(m.caches.others, e)
	}
}

// Description returns the machine as it was built.
func (m *Machine) Description() *Description { return m.d }

// AddBlock tells the machine of the next block; its id is the number of blocks before it.
func (m *Machine) AddBlock(b Block) (BlockID, error) {
	if len(b.PCs) != len(b.Instrs) {
		return 0, fmt.Errorf("block at %#x with %d accesses, %d instructions and %d addresses: %w",
			b.Addr, len(b.Accesses), len(b.Instrs), len(b.PCs), ErrTrace)
	}
	for i, a := range b.Accesses {
		if int(a.Instr) >= len(b.Instrs) {
			return 0, fmt.Errorf("block at %#x: access %d is of instruction %d of %d: %w", b.Addr, i, a.Instr, len(b.Instrs), ErrTrace)
		}
	}
	s := blockState{Block: b, chase: make([]bool, len(b.Instrs))}
	s.lines = [2]uint64{b.Addr >> m.shift, (b.Addr + uint64(max(b.Size, 1)) - 1) >> m.shift}
	for i, pc := range b.PCs {
		if k := m.erased[pc]; k != 0 {
			if s.erased == nil {
				s.erased = make([]KindSet, len(b.PCs))
			}
			s.erased[i] = k
		}
	}
	m.blocks = append(m.blocks, s)
	m.hot = append(m.hot, m.newHotBlock(&s))
	return BlockID(len(m.blocks) - 1), nil
}

// Blocks returns the number of blocks that were added.
func (m *Machine) Blocks() int { return len(m.blocks) }

// Erase makes events of some kinds at the instruction at pc cost nothing and not
// count, in blocks that are added from now on. The state of the caches goes on as
// if they had happened.
func (m *Machine) Erase(pc uint64, kinds KindSet) { m.erased[pc] |= kinds }

// Clock returns the time of a core in cycles.
func (m *Machine) Clock(core int) uint64 { return m.cores[core].clock }

// SetClock moves the clock of an idle core forward.
func (m *Machine) SetClock(core int, cycles uint64) {
	m.cores[core].clock = max(m.cores[core].clock, cycles)
}

// Switch tells the machine that another thread runs on a core from now on.
func (m *Machine) Switch(core int) {
	c := &m.cores[core]
	c.prev = -1
	c.pipe.lineage.forget()
	c.buffer.forget() // what the thread before left in it is its own time, and short beside the switch
}

// Contention counts the accesses so far that found their line taken by another core, and those
// among them to lines that had been lost shortly before as well. Where the second grows, cores
// fight for a line, the order of accesses matters, and they should run in short turns.
func (m *Machine) Contention() (losses, fights uint64) { return m.losses, m.fights }

// Waited is for how many cycles the requests of a core have waited for the bus and for memory.
// Where others crowd them, the order of accesses matters, too.
func (m *Machine) Waited(core int) uint64 { return m.cores[core].waited }

// Events returns what the event numbers in accounts mean. It grows.
func (m *Machine) Events() []Event { return m.events }

// PC returns the address of an event's instruction.
func (m *Machine) PC(s Site) uint64 { return m.blocks[s.Block].PCs[s.Instr] }

// SharingAt returns how lines were lost at a site, or nil.
func (m *Machine) SharingAt(s Site) *Sharing { return m.share[s] }
