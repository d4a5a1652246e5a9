package sim

import (
	"errors"
	"fmt"

	"lime/internal/cpu"
	"lime/internal/engine"
	"lime/internal/section"
	"lime/internal/waste"
	"lime/internal/waste/calls"
	"lime/internal/waste/quick"
	"lime/internal/waste/reason"
)

// wasteMeter is model "count" with a log of every access, which it feeds to a waste.Detector.
type wasteMeter struct {
	countMeter
	kinds     waste.Set
	tolerance float64
	r         *run
	d         *waste.Detector
	code      *quick.Code
	calls     calls.Table
	blocks    []*wasteBlock // by BlockID; nil: not seen yet
	tree      callTree
	bases     []wasteBase
	stacks    map[section.ThreadID]*wasteStack
	votes     map[int]*votes           // by pair
	traitsAt  map[uint64]reason.Traits // by instruction
	events    []wasteEvent
	byEvent   map[wasteEvent]int32
	found     map[wasteEvent]uint64     // accesses
	ran       map[engine.BlockID]uint64 // how often a block did
	err       error                     // of a log that was taken in the middle of a run
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

// newWasteMeter makes one for the life of the process.
func newWasteMeter(c *Config) (*wasteMeter, error) {
	d, err := waste.NewDetector(c.Waste)
	if err != nil {
		return nil, err
	}
	if c.Parallel {
		d.Order.Beside = true
	}
	code, err := quick.New(d, c.Tolerance)
	if err != nil {
		return nil, err
	}
	m := &wasteMeter{
		countMeter: newCountMeter(c), kinds: c.Waste, tolerance: c.Tolerance, d: d, code: code,
		calls: calls.NewTable(), tree: newCallTree(),
		stacks: map[section.ThreadID]*wasteStack{}, votes: map[int]*votes{}, traitsAt: map[uint64]reason.Traits{}, byEvent: map[wasteEvent]int32{},
		found: map[wasteEvent]uint64{}, ran: map[engine.BlockID]uint64{},
	}
	m.d.Sample = m.sample
	return m, nil
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
	if m.d.Order.Beside {
		c.Full = m.full
	}
}

// begin is called before the thread of a context runs.
func (m *wasteMeter) begin(t *thread) {
	s := m.stack(t)
	if sp := t.ctx.GPR[rsp]; len(s.system) > 0 || sp != s.sp && s.sp != 0 {
		waste.Now(m.d, uint32(t.id), func() {
			m.systemDone(s)
			if s.sp != 0 {
				s.moved(m, sp)
			}
		})
	}
	m.d.Order.Begin(uint32(t.id))
}

// Slice feeds what the last run of ctx has logged to the detector.
func (m *wasteMeter) Slice(_ int, ctx *cpu.Context, _, retired uint64) (uint64, error) {
	t := m.r.roster.byCtx[ctx]
	err := errors.Join(m.err, m.take(t))
	m.d.Order.End(uint32(t.id))
	return retired, err
}

// full takes a log in the middle of a run.
func (m *wasteMeter) full(ctx *cpu.Context) {
	t := m.r.roster.byCtx[ctx]
	m.err = errors.Join(m.err, m.take(t))
	m.d.Order.End(uint32(t.id))
	m.d.Order.Begin(uint32(t.id))
}

// take feeds what a thread has logged to the detector.
func (m *wasteMeter) take(t *thread) error {
	if m.r.counting.over() {
		return nil
	}
	ctx := t.ctx
	s := m.stack(t)
	m.d.Run(uint32(t.id))
	log := m.r.eng.Log(ctx)
	for at := 0; at < len(log); {
		id, _ := engine.LogWord(log[at])
		b, err := m.block(id)
		if err != nil {
			return err
		}
		if s.calling != nil {
			m.arrive(s, b)
		}
		if at, err = m.run(s, log, at); err != nil {
			return err
		}
	}
	s.sp = ctx.GPR[rsp]
	return m.d.Err()
}

// run takes passages from word at of the log on, all or some, and returns where to go on.
func (m *wasteMeter) run(s *wasteStack, log []uint64, at int) (int, error) {
	if m.kinds.Has(waste.FalseSharing) {
		return at + m.passage(s, log[at:]), nil
	}
	why, at := m.code.Run(&s.Stack, log[:len(log)+1], at)
	if at == len(log) {
		return at, nil
	}
	id, cut := engine.LogWord(log[at])
	b, err := m.block(id)
	switch why {
	case quick.Place:
		m.code.SetPlace(int(id), s.Path, m.base(s, b))
	case quick.Called:
		s.calling = b
		at += 1 + b.shape.Words
	case quick.Rest:
		contexts, words := m.code.First(int(id))
		at += 1 + words
		at += m.oneByOne(s, b, m.base(s, b)+waste.Context(contexts), b.tail, log[at:], -1)
	case quick.Unknown:
		switch {
		case err != nil:
		case cut < 0 && b.shape.Repeat == nil && !m.code.Knows(int(id)):
			err = m.code.Add(int(id), b.code)
		default:
			at += m.passage(s, log[at:])
		}
	}
	return at, err
}

// passage takes one passage of a block by hand, and returns how many words it has left.
func (m *wasteMeter) passage(s *wasteStack, words []uint64) int {
	id, cut := engine.LogWord(words[0])
	b := m.blocks[id]
	base := m.base(s, b)
	if b.shape.Repeat != nil {
		m.repeatDone(s, b, base, words[1:])
		return 1 + b.shape.Words
	}
	return 1 + m.oneByOne(s, b, base, b.accesses, words[1:], cut)
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
			s.Push(addr)
			s.calling = b
		case accessReturn:
			s.Pop(addr)
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
	node := int32(s.Path)
	first, ok := b.bases[node]
	if !ok {
		first = m.d.Add(uint32(s.thread), max(len(b.accesses), 2))
		m.bases = append(m.bases, wasteBase{first, node, b})
		b.bases[node] = first
	}
	return first
}

// Drain returns the waste that the thread of ctx has done since the last Drain, by kind and
// instruction.
func (m *wasteMeter) Drain(ctx *cpu.Context, ran []edgeCount) hardware {
	var h hardware
	for _, e := range ran {
		m.ran[m.r.eng.Edges()[e.id].To] += e.n
	}
	t := m.r.roster.byCtx[ctx]
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
		m.found[e] += s.N
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
	b, err := newWasteBlock(id, x, m.r.eng.Logged(id), m.r.memory.code(x.PC, int(x.Size)))
	if err != nil {
		return nil, fmt.Errorf("block at %#x: %w", x.PC, err)
	}
	m.blocks[id] = b
	m.learn(b)
	return b, nil
}

// sample remembers what data a pair is on.
func (m *wasteMeter) sample(pair int, second waste.Context, addr uint64) {
	t := m.r.roster.threads[m.tree.nodes[m.baseOf(second).node].thread]
	if m.votes[pair] == nil {
		m.votes[pair] = &votes{}
	}
	m.votes[pair].add(m.r.dataFinder.placeOf(t, addr))
}
