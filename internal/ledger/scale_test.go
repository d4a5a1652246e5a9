package ledger

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"lime/internal/profile"
)

// shape is a large structured program whose counts are made without running it: every function is a nest
// of sequences, branches, loops and calls of later functions.
type shape struct {
	prof  *profile.Profile
	r     *rand.Rand
	ids   map[profile.Edge]profile.EdgeID
	heads []profile.NodeID
}

// grow makes a program of at least so many edges and returns an instance in which so many threads ran it.
func grow(edges, threads int, seed uint64) (*profile.Profile, *profile.Instance) {
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
	for p := range threads {
		inst.Parts = append(inst.Parts, s.run(bodies, inst, p))
	}
	inst.Sort()
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

func (s *shape) place(p *piece) {
	p.node = s.prof.AddNode(profile.Node{Instrs: uint32(1 + s.r.IntN(10)), Image: profile.None, Function: profile.None,
		Addr: uint64(len(s.prof.Nodes) * 16), LastAddr: uint64(len(s.prof.Nodes)*16 + 8)})
	if p.then != nil {
		s.place(p.then)
	}
	if p.next != nil {
		s.place(p.next)
	}
}

// run counts one thread's edges: calls[f] is how often function f runs.
func (s *shape) run(bodies []*piece, inst *profile.Instance, part int) profile.Part {
	c := &counter{s: s, calls: make([]uint64, len(bodies)), n: map[profile.Edge]uint64{}}
	c.calls[0] = 1
	for f, b := range bodies {
		if f > 0 && f < 40 {
			c.n[profile.Edge{From: bodies[0].node, To: b.node, Kind: profile.EdgeCallInd}]++ // nothing is left out
			c.calls[f]++
		}
		if c.calls[f] > 0 {
			c.count(b, c.calls[f], profile.None, f)
		}
	}
	for e, n := range c.n {
		id, ok := s.ids[e]
		if !ok {
			id = s.prof.AddEdge(e)
			s.ids[e] = id
		}
		inst.Edges = append(inst.Edges, profile.Count{Row: int32(id), Part: int32(part), N: n})
	}
	return profile.Part{Thread: profile.ThreadID(part), Arrive: c.time, Entry: bodies[0].node, Exit: profile.None}
}

type counter struct {
	s     *shape
	calls []uint64
	n     map[profile.Edge]uint64
	time  uint64
}

func (c *counter) add(from, to profile.NodeID, k profile.EdgeKind, n uint64) {
	if n > 0 {
		if to == profile.None {
			k = profile.EdgeEnd
		}
		c.n[profile.Edge{From: from, To: to, Kind: k}] += n
	}
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
		rounds := n * uint64(1+c.s.r.IntN(3))
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
	if f+1 >= len(c.calls) {
		c.add(p.node, next, profile.EdgeJump, n)
		return
	}
	g := f + 1 + p.callee%min(len(c.calls)-f-1, 20)
	c.calls[g] = min(c.calls[g]+n, 1<<24)
	c.add(p.node, c.s.heads[g], profile.EdgeCall, n)
	c.add(p.node, next, profile.EdgeReturn, n)
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
			for b.Loop() {
				if _, err := Section(repeated{prof, inst, c.instances}, 0, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(prof.Edges)), "edges")
			b.ReportMetric(float64(len(inst.Edges)), "counts")
		})
	}
}
