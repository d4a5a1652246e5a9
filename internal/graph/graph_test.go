package graph

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func edges(pairs ...[2]int32) []Edge {
	out := make([]Edge, len(pairs))
	for i, p := range pairs {
		out[i] = Edge{From: p[0], To: p[1]}
	}
	return out
}

// The three graphs of the paper's Figure 3: clusters and their leaders.
func TestFigure3(t *testing.T) {
	const a, b, c, d, e, f, g, h, i, j, k, l = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	for _, tt := range []struct {
		name  string
		edges []Edge
		set   []int32
		want  []int32
	}{
		{"if-then-else", edges([2]int32{a, b}, [2]int32{a, e}, [2]int32{b, c}, [2]int32{e, f}, [2]int32{c, d}, [2]int32{f, d}),
			[]int32{0, 2, 4}, []int32{a}},
		{"loop with a back edge", edges([2]int32{a, b}, [2]int32{b, c}, [2]int32{c, a}, [2]int32{c, d}),
			[]int32{0, 1, 2}, []int32{a}},
		{"two leaders", edges([2]int32{a, b}, [2]int32{a, e}, [2]int32{b, c}, [2]int32{e, f}, [2]int32{c, d}, [2]int32{f, d},
			[2]int32{d, g}, [2]int32{g, h}, [2]int32{g, k}, [2]int32{h, i}, [2]int32{k, l}, [2]int32{i, j}, [2]int32{l, j}),
			[]int32{1, 3, 5, 8, 10, 12}, []int32{a, g}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gr := New(12, tt.edges)
			if got := gr.Leaders(tt.set, Analyse(gr).Back); !slices.Equal(got, tt.want) {
				t.Errorf("leaders %v, want %v", got, tt.want)
			}
		})
	}
}

// randomGraph has calls as well; some edges have no end.
func randomGraph(r *rand.Rand) *Graph {
	n := 1 + r.IntN(14)
	es := make([]Edge, r.IntN(3*n))
	for i := range es {
		es[i] = Edge{From: int32(r.IntN(n+1)) - 1, To: int32(r.IntN(n+1)) - 1, Call: r.IntN(5) == 0}
	}
	return New(n, es)
}

// slowDominates is the definition: b cannot be reached from the root without passing a.
func slowDominates(f *flow, a, b int32) bool {
	if a == b {
		return true
	}
	seen := make([]bool, f.n+1)
	seen[a] = true
	if a != int32(f.n) {
		f.mark(int32(f.n), seen)
	}
	return !seen[b]
}

func TestDominatorsAgainstDefinition(t *testing.T) {
	for seed := range uint64(400) {
		s := &Structure{g: randomGraph(rand.New(rand.NewPCG(seed, 2)))}
		f := s.plain()
		d := f.dominators()
		for a := range int32(f.n + 1) {
			for b := range int32(f.n + 1) {
				if got, want := d.dominates(a, b), slowDominates(f, a, b); got != want {
					t.Fatalf("seed %d: dominates(%d, %d) = %v, want %v", seed, a, b, got, want)
				}
			}
		}
	}
}

// slowLoop is the natural loop of a header by definition: it and all that reach one of its latches
// without passing it.
func slowLoop(s *Structure, header int32) map[int32]bool {
	in := map[int32]bool{header: true}
	var walk func(v int32)
	walk = func(v int32) {
		if in[v] {
			return
		}
		in[v] = true
		for _, e := range s.g.In(v) {
			if u := s.g.edges[e].From; u != None && !s.g.edges[e].Call {
				walk(u)
			}
		}
	}
	for i, e := range s.g.edges {
		if s.Back[i] && !e.Call && e.To == header {
			walk(e.From)
		}
	}
	return in
}

func TestLoopsAgainstDefinition(t *testing.T) {
	for seed := range uint64(400) {
		s := Analyse(randomGraph(rand.New(rand.NewPCG(seed, 3))))
		for l := range s.loops {
			want := slowLoop(s, s.loops[l].header)
			for v := range int32(s.g.n) {
				if got := s.holds(int32(l), v); got != want[v] {
					t.Fatalf("seed %d: loop of %d holds %d: %v, want %v", seed, s.loops[l].header, v, got, want[v])
				}
			}
		}
	}
}

func TestRecursionAndLoopTests(t *testing.T) {
	// 0 calls 1; 1 tests, calls itself (2 -> 1), goes on to 3; 4 is a loop tested at its bottom, 5.
	g := New(8, []Edge{{0, 1, true}, {1, 2, false}, {1, 3, false}, {2, 1, true}, {2, 3, false},
		{0, 4, false}, {4, 5, false}, {5, 4, false}, {5, 6, false}, {4, 4, false}})
	s := Analyse(g)
	if want := []bool{false, false, false, true, false, false, false, true, false, true}; !slices.Equal(s.Back, want) {
		t.Errorf("back edges %v, want %v", s.Back, want)
	}
	if !s.Recur[3] || s.Recur[0] {
		t.Errorf("recursion %v", s.Recur)
	}
	for v, want := range []bool{false, false, false, false, true, true, false} {
		if got := s.LoopTest(int32(v)); got != want {
			t.Errorf("LoopTest(%d) = %v, want %v", v, got, want)
		}
	}
	for v, want := range [][]int32{nil, nil, nil, nil, {4}, {4, 5}, nil} {
		if got := s.TestedLoop(int32(v)); !slices.Equal(got, want) {
			t.Errorf("TestedLoop(%d) = %v, want %v", v, got, want)
		}
	}
}
