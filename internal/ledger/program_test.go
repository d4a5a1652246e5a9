package ledger

import (
	"math/rand/v2"

	"lime/internal/profile"
)

// program is a random program for tests: functions of blocks, run by an interpreter that counts as
// a collector does.
type program struct {
	blocks  []block
	funcs   []int // entry block of each function
	handler int   // where a function begins that runs when a thread is interrupted, and calls another
}

// block is a basic block; to are blocks (tests and jumps) or functions (calls), next is the
// continuation of a call.
type block struct {
	kind   profile.NodeKind
	instrs uint32
	to     []int
	next   int
	line   int32
}

// habit is how a thread decides: weights of the ways out of every block.
type habit [][]float64

// randomProgram makes functions whose blocks lead mostly forward, so that runs end.
func randomProgram(r *rand.Rand, funcs, size int) *program {
	p := &program{}
	for range funcs {
		p.funcs = append(p.funcs, len(p.blocks))
		n := 2 + r.IntN(size)
		first := len(p.blocks)
		for i := range n {
			p.blocks = append(p.blocks, randomBlock(r, first, i, n, funcs))
		}
	}
	p.handler = len(p.blocks)
	p.blocks = append(p.blocks, block{kind: profile.EndCall, instrs: 5, to: []int{0}, next: p.handler + 1}, block{kind: profile.EndRet, instrs: 1})
	for i := range p.blocks {
		p.blocks[i].line = int32(i + 1)
	}
	return p
}

func randomBlock(r *rand.Rand, first, i, n, funcs int) block {
	b := block{instrs: uint32(1 + r.IntN(20)), next: first + i + 1}
	if i == n-1 {
		b.kind = profile.EndRet
		return b
	}
	any := func() int { return first + r.IntN(n) }
	switch r.IntN(8) {
	case 0, 1, 2:
		b.kind, b.to = profile.EndCond, []int{any(), b.next}
	case 3:
		b.kind, b.to = profile.EndJumpInd, []int{any(), b.next, any()}
	case 4:
		b.kind, b.to = profile.EndCall, []int{r.IntN(funcs)}
	case 5:
		b.kind, b.to = profile.EndCallInd, []int{r.IntN(funcs), r.IntN(funcs), r.IntN(funcs)}
	case 6:
		b.kind, b.to = profile.EndJump, []int{b.next}
	default:
		b.kind, b.to = profile.EndFall, []int{b.next}
	}
	return b
}

func (p *program) randomHabit(r *rand.Rand) habit {
	h := make(habit, len(p.blocks))
	for i, b := range p.blocks {
		for range b.to {
			h[i] = append(h[i], 0.1+r.Float64())
		}
	}
	return h
}

// tables returns the program's nodes; edges come as they are met.
func (p *program) tables(prof *profile.Profile) {
	img := prof.AddImage(profile.Image{Path: "a.out"})
	file := prof.AddFile(profile.File{Path: "a.c"})
	for i, b := range p.blocks {
		var fs []profile.Frame
		if b.line > 0 {
			fs = []profile.Frame{{File: file, Line: b.line, Function: "f"}}
		}
		prof.AddNode(profile.Node{Image: img, Addr: uint64(i * 16), Size: 16, LastAddr: uint64(i*16 + 8), Instrs: b.instrs, Kind: b.kind,
			Function: profile.None, Frames: fs, First: fs})
	}
}

// machine runs one thread of a program.
type machine struct {
	p     *program
	r     *rand.Rand
	h     habit
	at    int
	stack []int // call blocks that are open; below nil: the block before which it was interrupted
	dead  bool
}

// counting is how a collector may count at the borders of a section.
type counting struct {
	exitEdge  bool // the edge out of the last block is counted
	unmatched bool // a return from a call made before the section is counted
	stops     bool // threads are interrupted in the midst of functions
}

// run executes up to steps blocks and returns how often each edge was taken, and the part's
// borders.
func (m *machine) run(steps int, c counting, edges map[profile.Edge]uint64) (profile.Part, uint64) {
	part := profile.Part{Entry: profile.NodeID(m.at), Exit: profile.None, EntryStack: m.open()}
	floor := len(m.stack)
	var time uint64
	for i := 0; i < steps && !m.dead; i++ {
		part.Exit = profile.NodeID(m.at)
		time += uint64(m.p.blocks[m.at].instrs)
		part.ExitStack = m.open()
		for _, e := range m.step(&floor, c) {
			if i < steps-1 || c.exitEdge {
				edges[e]++
			}
		}
		if c.stops && !m.dead && m.at > 0 && m.stopped() == 0 && m.r.IntN(20) == 0 {
			m.interrupt()
		}
	}
	if c.exitEdge {
		part.ExitStack = m.open()
	}
	return part, time
}

// interrupt has the thread do something else before the next block, to which no edge leads. It is
// not interrupted in that.
func (m *machine) interrupt() {
	m.stack = append(m.stack, ^m.at)
	m.at = m.p.handler
}

// stopped is how often it is interrupted at the time.
func (m *machine) stopped() (n int) {
	for _, b := range m.stack {
		if b < 0 {
			n++
		}
	}
	return n
}

// open lists the open calls. Where a thread was interrupted, the collector takes the block before
// for one.
func (m *machine) open() []profile.NodeID {
	s := []profile.NodeID{}
	for _, b := range m.stack {
		if b < 0 {
			b = ^b - 1
		}
		s = append(s, profile.NodeID(b))
	}
	return s
}

// step leaves the block at hand and returns the edges that count it.
func (m *machine) step(floor *int, c counting) []profile.Edge {
	from := m.at
	b := m.p.blocks[from]
	way := 0
	if len(b.to) > 1 {
		way = choose(m.r, m.h[from])
	}
	switch b.kind {
	case profile.EndRet:
		return m.ret(from, floor, c)
	case profile.EndCall, profile.EndCallInd:
		kind := profile.EdgeCall
		if b.kind == profile.EndCallInd {
			kind = profile.EdgeCallInd
		}
		m.stack = append(m.stack, from)
		m.at = m.p.funcs[b.to[way]]
		return []profile.Edge{m.edge(from, kind)}
	}
	kind := map[profile.NodeKind]profile.EdgeKind{profile.EndCond: profile.EdgeTaken, profile.EndJumpInd: profile.EdgeJumpInd,
		profile.EndJump: profile.EdgeJump, profile.EndFall: profile.EdgeFall}[b.kind]
	if b.kind == profile.EndCond && way == 1 {
		kind = profile.EdgeFall
	}
	m.at = b.to[way]
	return []profile.Edge{m.edge(from, kind)}
}

func (m *machine) edge(from int, kind profile.EdgeKind) profile.Edge {
	return profile.Edge{From: profile.NodeID(from), To: profile.NodeID(m.at), Kind: kind}
}

func (m *machine) ret(from int, floor *int, c counting) []profile.Edge {
	edges := []profile.Edge{{From: profile.NodeID(from), To: profile.None, Kind: profile.EdgeEnd}}
	if len(m.stack) == 0 {
		m.dead = true
		return edges
	}
	call := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	if call < 0 {
		m.at = ^call
		*floor = min(*floor, len(m.stack))
		return append(edges, m.edge(profile.None, profile.EdgeOdd))
	}
	m.at = m.p.blocks[call].next
	if len(m.stack) >= *floor || c.unmatched {
		edges = append(edges, m.edge(call, profile.EdgeReturn))
	}
	*floor = min(*floor, len(m.stack))
	return edges
}

func choose(r *rand.Rand, weights []float64) int {
	var sum float64
	for _, w := range weights {
		sum += w
	}
	x := r.Float64() * sum
	for i, w := range weights {
		if x -= w; x < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// instance runs every thread through a section and adds the edges to the profile.
func instance(prof *profile.Profile, ms []*machine, steps []int, c counting, ids map[profile.Edge]profile.EdgeID) *profile.Instance {
	inst := &profile.Instance{Section: 0}
	for i, m := range ms {
		edges := map[profile.Edge]uint64{}
		part, time := m.run(steps[i], c, edges)
		part.Thread, part.Arrive = profile.ThreadID(i), time
		inst.Parts = append(inst.Parts, part)
		for e, n := range edges {
			id, ok := ids[e]
			if !ok {
				id = prof.AddEdge(e)
				ids[e] = id
			}
			inst.Edges = append(inst.Edges, profile.Count{Row: int32(id), Part: int32(i), N: n})
		}
	}
	return inst
}

// newProfile returns a profile with one section and so many threads.
func newProfile(threads int) *profile.Profile {
	prof := &profile.Profile{}
	_ = prof.UpdateMeta(profile.Meta{NodeTime: "visits", ClockUnit: "instructions"})
	prof.AddSection(profile.Section{Kind: profile.SectionBarrier, EndNode: profile.None})
	for range threads {
		prof.AddThread(profile.Thread{Parent: profile.None, Entry: profile.None})
	}
	return prof
}
