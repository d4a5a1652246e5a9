package ledger

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"lime/internal/profile"
)

// shape is a large structured program whose counts are made without running it: every function is a
// nest of sequences, branches, loops and calls of later functions.
type shape struct {
	prof  *profile.Profile
	r     *rand.Rand
	ids   map[profile.Edge]profile.EdgeID
	heads []profile.NodeID
	busy  [4]profile.NodeID // two blocks that call a function of two
	heavy uint64            // rounds of its loop for the first of those
}

// grow returns a program whose edges are numbered as they are met, as collectors do it, and an
// instance in which so many threads went along at least so many of its edges.
func grow(edges, threads int, seed uint64) (*profile.Profile, *profile.Instance) {
	for size := edges; ; size += edges/10 + 1 {
		if prof, inst := growTo(size, threads, seed); len(prof.Edges) >= edges {
			return prof, inst
		}
	}
}

// growTo makes a program of so many edges, of which some may not be met.
func growTo(edges, threads int, seed uint64) (*profile.Profile, *profile.Instance) {
	s := &shape{prof: newProfile(threads), r: rand.New(rand.NewPCG(seed, 3)), ids: map[profile.Edge]profile.EdgeID{}}
	var bodies []*piece
	for made := 0; made < edges; {
		b := s.piece(6)
		bodies = append(bodies, b)
		made += b.edges
	}
	inst := &profile.Instance{}
	s.heads = make([]profile.NodeID, len(bodies))
	for i, b := range bodies {
		s.place(b)
		s.heads[i] = b.node
	}
	for i := range s.busy {
		s.busy[i] = s.block()
	}
	counts := make([][]uint64, threads)
	for p := range counts {
		var part profile.Part
		part, counts[p] = s.run(bodies, p)
		inst.Parts = append(inst.Parts, part)
	}
	for id := range s.prof.Edges {
		for p, n := range counts {
			if id < len(n) && n[id] > 0 {
				inst.Edges = append(inst.Edges, profile.Count{Row: int32(id), Part: int32(p), N: n[id]})
			}
		}
	}
	return s.prof, inst
}

// piece is a statement: a block, then by its kind a way through its parts.
type piece struct {
	kind       int // 0 block, 1 branch, 2 loop, 3 call
	then, next *piece
	node       profile.NodeID
	edges      int
	bias       float64
	callee     int
	target     int // of a call: the function, once it was met
}

func (s *shape) piece(depth int) *piece {
	p := &piece{kind: s.r.IntN(4), bias: s.r.Float64(), callee: s.r.IntN(1 << 30), edges: 2}
	if depth > 0 && (p.kind == 1 || p.kind == 2) {
		p.then = s.piece(depth - 2)
		p.edges += p.then.edges
	} else if p.kind != 3 {
		p.kind = 0
	}
	if depth > 0 && s.r.IntN(8) > 0 {
		p.next = s.piece(depth - 1)
		p.edges += p.next.edges
	}
	return p
}

func (s *shape) block() profile.NodeID {
	return s.prof.AddNode(profile.Node{Instrs: uint32(1 + s.r.IntN(10)), Image: profile.None, Function: profile.None,
		Addr: uint64(len(s.prof.Nodes) * 16), LastAddr: uint64(len(s.prof.Nodes)*16 + 8)})
}

func (s *shape) place(p *piece) {
	p.node = s.block()
	if p.then != nil {
		s.place(p.then)
	}
	if p.next != nil {
		s.place(p.next)
	}
}

// run counts one thread's edges: calls[f] is how often function f runs. Edges get their ids as they
// are met first.
func (s *shape) run(bodies []*piece, part int) (profile.Part, []uint64) {
	c := &counter{s: s, calls: make([]uint64, len(bodies))}
	c.calls[0] = 1
	for f, b := range bodies {
		if f > 0 && f < 40 {
			c.add(bodies[0].node, b.node, profile.EdgeCallInd, 1) // nothing is left out
			c.calls[f]++
		}
		if c.calls[f] > 0 {
			c.count(b, c.calls[f], profile.None, f)
		}
	}
	c.work(bodies[0].node, uint64(1+part%4))
	return profile.Part{Thread: profile.ThreadID(part), Arrive: c.time, Entry: bodies[0].node, Exit: profile.None}, c.n
}

type counter struct {
	s     *shape
	calls []uint64
	n     []uint64 // by edge
	time  uint64
}

func (c *counter) add(from, to profile.NodeID, k profile.EdgeKind, n uint64) {
	if n == 0 {
		return
	}
	if to == profile.None {
		k = profile.EdgeEnd
	}
	e := profile.Edge{From: from, To: to, Kind: k}
	id, ok := c.s.ids[e]
	if !ok {
		id = c.s.prof.AddEdge(e)
		c.s.ids[e] = id
	}
	c.n = grown(c.n, int(id)+1)
	c.n[id] += n
}

// count counts n passages of a piece that goes on to next (or to after, at the end of a list).
func (c *counter) count(p *piece, n uint64, after profile.NodeID, f int) {
	next := after
	if p.next != nil {
		next = p.next.node
	}
	visits := n
	switch p.kind {
	case 0:
		c.add(p.node, next, profile.EdgeJump, n)
	case 1:
		taken := uint64(float64(n) * c.some(p.bias))
		c.add(p.node, p.then.node, profile.EdgeTaken, taken)
		c.add(p.node, next, profile.EdgeFall, n-taken)
		c.count(p.then, taken, next, f)
	case 2:
		rounds := uint64(float64(n) * (1 + 2*c.some(p.bias)))
		visits += rounds
		c.add(p.node, p.then.node, profile.EdgeTaken, rounds)
		c.add(p.node, next, profile.EdgeFall, n)
		c.count(p.then, rounds, p.node, f)
	case 3:
		c.call(p, n, next, f)
	}
	c.time += visits * uint64(c.s.prof.Nodes[p.node].Instrs)
	if p.next != nil {
		c.count(p.next, n, after, f)
	}
}

func (c *counter) some(bias float64) float64 { return min(1, max(0, bias+0.2*(c.s.r.Float64()-0.5))) }

func (c *counter) call(p *piece, n uint64, next profile.NodeID, f int) {
	if f >= len(c.calls)-helpers {
		c.add(p.node, next, profile.EdgeJump, n)
		return
	}
	if p.target == 0 {
		p.target = f + 1 + p.callee%min(len(c.calls)-f-1, 20)
		if c.calls[p.target]+n > most {
			p.target = len(c.calls) - 1 - p.callee%helpers
		}
	}
	c.calls[p.target] += n
	if next == profile.None {
		c.add(p.node, c.s.heads[p.target], profile.EdgeJump, n) // a tail call
		return
	}
	c.add(p.node, c.s.heads[p.target], profile.EdgeCall, n)
	c.add(p.node, next, profile.EdgeReturn, n)
}

// A function runs about most times at most; calls beyond that go to one of the helpers, the last
// functions, which call nothing.
const (
	most    = 1 << 24
	helpers = 40
)

// work calls a function whose loop goes round often for one caller, and once for the other: what it
// is charged with is passed on.
func (c *counter) work(main profile.NodeID, heavy uint64) {
	const light = 10
	if c.s.heavy == 0 {
		c.s.heavy = c.time
	}
	a, b, loop, body := c.s.busy[0], c.s.busy[1], c.s.busy[2], c.s.busy[3]
	rounds := heavy*c.s.heavy + light
	c.add(main, a, profile.EdgeCallInd, heavy)
	c.add(main, b, profile.EdgeCallInd, light)
	c.add(a, loop, profile.EdgeJump, heavy)
	c.add(b, loop, profile.EdgeJump, light)
	c.add(loop, body, profile.EdgeTaken, rounds)
	c.add(body, loop, profile.EdgeJump, rounds)
	c.add(loop, profile.None, profile.EdgeEnd, heavy+light)
	for v, n := range map[profile.NodeID]uint64{a: heavy, b: light, loop: heavy + light + rounds, body: rounds} {
		c.time += n * uint64(c.s.prof.Nodes[v].Instrs)
	}
}

// repeated is a source that yields the same instance over and over.
type repeated struct {
	*profile.Profile
	inst *profile.Instance
	n    int
}

func (r repeated) Instances(profile.SectionID) iter.Seq2[*profile.Instance, error] {
	return func(yield func(*profile.Instance, error) bool) {
		for range r.n {
			if !yield(r.inst, nil) {
				return
			}
		}
	}
}

func BenchmarkSection(b *testing.B) {
	for _, c := range []struct{ edges, threads, instances int }{
		{1000, 64, 10}, {10000, 64, 10}, {100000, 8, 10}, {100000, 64, 10}, {100000, 64, 100},
	} {
		b.Run(fmt.Sprintf("edges=%d/threads=%d/instances=%d", c.edges, c.threads, c.instances), func(b *testing.B) {
			prof, inst := grow(c.edges, c.threads, 1)
			start := coreTime(b)
			for b.Loop() {
				if _, err := Section(repeated{prof, inst, c.instances}, 0, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((coreTime(b)-start)/float64(b.N), "core-s/op")
			b.ReportMetric(float64(len(prof.Edges)), "edges")
			b.ReportMetric(float64(len(inst.Edges)), "counts")
		})
	}
}
