package sim

import (
	"fmt"

	"lime/internal/cpu"
	"lime/internal/engine"
	"lime/internal/section"
	"lime/internal/waste"
	"lime/internal/waste/calls"
)

// wasteMeter is model "count" with a log of every access, which it feeds to a waste.Detector.
type wasteMeter struct {
	countMeter
	kinds     waste.Set
	tolerance float64
	r         *run
	d         *waste.Detector
	calls     calls.Table
	blocks    []*wasteBlock // by BlockID; nil: not seen yet
	tree      callTree
	bases     []wasteBase
	stacks    map[section.ThreadID]*wasteStack
	votes     map[int]*votes    // by pair
	traitsAt  map[uint64]traits // by instruction
	repeat    repeated          // what the next repeated instruction will write
	events    []wasteEvent
	byEvent   map[wasteEvent]int32
}

// wasteBase says what the contexts from first on are: the accesses of a block, called by a path.
type wasteBase struct {
	first waste.Context
	node  int32
	block *wasteBlock
}

// wasteEvent is a kind of waste at an instruction.
type wasteEvent struct {
	kind waste.Kind
	pc   uint64
}

func newWasteMeter(c *Config) *wasteMeter {
	m := &wasteMeter{
		countMeter: newCountMeter(c), kinds: c.Waste, tolerance: c.Tolerance, d: waste.NewDetector(c.Waste),
		calls: calls.NewTable(), tree: newCallTree(),
		stacks: map[section.ThreadID]*wasteStack{}, votes: map[int]*votes{}, traitsAt: map[uint64]traits{}, byEvent: map[wasteEvent]int32{},
	}
	m.d.Sample = m.sample
	return m
}

// sharingTurn is how many instructions a core may run beyond the core behind it where lines are
// watched that go from core to core: in a long turn a core would touch a line many times for which
// a real one had to fetch it again.
const sharingTurn = 150

func (m *wasteMeter) Turn(core int) int64 {
	if m.kinds.Has(waste.FalseSharing) {
		return sharingTurn
	}
	return m.countMeter.Turn(core)
}

func (m *wasteMeter) Mode() engine.Mode { return engine.Log }

// Record has values logged where a kind asks for them: what is dead is so whatever it was.
func (m *wasteMeter) Record(c *engine.Config) {
	c.Mode, c.Addresses = engine.Log, m.kinds&waste.Of(waste.SilentStore, waste.SilentLoad) == 0
}

// begin is called before the thread of a context runs.
func (m *wasteMeter) begin(t *thread) {
	s := m.stack(t)
	m.systemDone(s)
	if sp := t.ctx.GPR[rsp]; sp != s.sp && s.sp != 0 {
		s.moved(m, sp)
	}
}

// Slice feeds what the last run of ctx has logged to the detector.
func (m *wasteMeter) Slice(_ int, ctx *cpu.Context, _, retired uint64) (uint64, error) {
	t := m.r.byCtx[ctx]
	s := m.stack(t)
	m.d.Run(uint32(t.id))
	for log := m.r.eng.Log(); len(log) > 0; {
		id, cut := engine.LogWord(log[0])
		var b *wasteBlock
		if int(id) < len(m.blocks) {
			b = m.blocks[id]
		}
		if b == nil {
			var err error
			if b, err = m.block(id); err != nil {
				return 0, err
			}
		}
		log = log[1+m.passage(s, b, log[1:], cut):]
	}
	s.sp = ctx.GPR[rsp]
	return retired, nil
}

// passage takes one passage of a block, and returns how many words it left.
func (m *wasteMeter) passage(s *wasteStack, b *wasteBlock, words []uint64, cut int) int {
	if s.calling != nil {
		s.arrive(m, b.pc)
	}
	base := b.base
	if b.node != s.node || base == 0 {
		base = m.base(s, b)
	}
	if b.shape.Repeat != nil {
		m.repeatDone(b, base, words)
		return b.shape.Words
	}
	if cut >= 0 {
		return m.oneByOne(s, b, base, b.accesses, words, cut)
	}
	w := m.d.Pass(base, &b.body, words, m.tolerance)
	if len(b.tail) > 0 {
		w += m.oneByOne(s, b, base+waste.Context(b.body.Contexts), b.tail, words[w:], cut)
	}
	return w
}

// oneByOne takes accesses of a block that need more than the detector: those of calls, returns, and
// all of a passage that a fault has cut short.
func (m *wasteMeter) oneByOne(s *wasteStack, b *wasteBlock, c waste.Context, list []wasteAccess, words []uint64, cut int) int {
	w := 0
	for k := range list {
		a := &list[k]
		if cut >= 0 && a.inst >= cut {
			return w
		}
		addr := words[w]
		w++
		switch a.what {
		case accessLoad:
			m.d.Load(c, addr, a.n)
		case accessStore, accessBoth, accessChange:
			same := a.values > 0 && waste.Same(a.elem, words[w:w+a.values], words[w+a.values:w+2*a.values], m.tolerance)
			if a.what == accessBoth {
				m.d.Load(c, addr, a.n)
			}
			m.d.Store(c, addr, a.n, same)
			w += 2 * a.values
		case accessPush:
			m.d.Push(addr)
			s.call(addr, b)
		case accessReturn:
			s.ret(addr)
		case accessVague:
			m.d.Read(addr, uint64(a.n))
			if a.writes {
				m.d.Forget(addr, uint64(a.n))
			}
		}
		c++
	}
	return w
}

// base is the first context of a block's accesses.
func (m *wasteMeter) base(s *wasteStack, b *wasteBlock) waste.Context {
	first, ok := b.bases[s.node]
	if !ok {
		first = m.d.Add(uint32(s.thread), max(len(b.accesses), 2))
		m.bases = append(m.bases, wasteBase{first, s.node, b})
		b.bases[s.node] = first
	}
	b.node, b.base = s.node, first
	return first
}

// Drain returns the waste that the thread of ctx has done since the last Drain, by kind and
// instruction.
func (m *wasteMeter) Drain(ctx *cpu.Context) hardware {
	var h hardware
	t := m.r.byCtx[ctx]
	if t == nil {
		return h
	}
	for _, s := range m.d.Drain(uint32(t.id)) {
		base := m.baseOf(s.Context)
		e := wasteEvent{s.Kind, base.block.accesses[s.Context-base.first].pc}
		id, ok := m.byEvent[e]
		if !ok {
			id = int32(len(m.events))
			m.events, m.byEvent[e] = append(m.events, e), id
		}
		h.events = append(h.events, hardwareEvent{id: id, n: s.N})
	}
	return h
}

// block is what is known of a block.
func (m *wasteMeter) block(id engine.BlockID) (*wasteBlock, error) {
	for len(m.blocks) <= int(id) {
		m.blocks = append(m.blocks, nil)
	}
	if b := m.blocks[id]; b != nil {
		return b, nil
	}
	x := &m.r.eng.Blocks()[id]
	b, err := newWasteBlock(x, m.r.eng.Logged(id), m.r.code(x.PC, int(x.Size)))
	if err != nil {
		return nil, fmt.Errorf("block at %#x: %w", x.PC, err)
	}
	m.blocks[id] = b
	m.learn(b)
	return b, nil
}

// sample remembers what data a pair is on.
func (m *wasteMeter) sample(pair int, second waste.Context, addr uint64) {
	t := m.r.threads[m.tree.nodes[m.baseOf(second).node].thread]
	if m.votes[pair] == nil {
		m.votes[pair] = &votes{}
	}
	m.votes[pair].add(m.r.placeOf(t, addr))
}
