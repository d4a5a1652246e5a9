package analysis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lime/internal/profile"
)

// A condition of several parts decides like one of a single part: the branch is its first test. Of
// tests with work in between, of which none alone decides, no branch is told.
func TestConditionsOfSeveralParts(t *testing.T) {
	const fall, taken = profile.EdgeFall, profile.EdgeTaken
	type edge struct {
		from, to int
		kind     profile.EdgeKind
	}
	for _, row := range []struct {
		name  string
		cond  []int
		edges []edge
		want  string // tests of the branches around block 3
	}{
		{"a", []int{0}, []edge{{0, 3, fall}, {0, 4, taken}, {3, 4, fall}}, "[0]"},
		{"a && b", []int{0, 1}, []edge{{0, 1, fall}, {0, 4, taken}, {1, 3, fall}, {1, 4, taken}, {3, 4, fall}}, "[0 1]"},
		{"a || b", []int{0, 1}, []edge{{0, 1, fall}, {0, 3, taken}, {1, 3, fall}, {1, 4, taken}, {3, 4, fall}}, "[0]"},
		{"a && b || c", []int{0, 1, 2}, []edge{{0, 1, fall}, {0, 2, taken}, {1, 2, fall}, {1, 3, taken}, {2, 3, fall}, {2, 4, taken}, {3, 4, fall}}, "[0]"},
		{"a ? (work, b) : c", []int{0, 2, 5}, []edge{{0, 1, fall}, {0, 2, taken}, {1, 5, fall}, {5, 3, taken}, {5, 4, fall}, {2, 3, fall}, {2, 4, taken}, {3, 4, fall}}, "[]"},
	} {
		b := newBuilder(2, 6, row.cond...)
		for _, e := range row.edges {
			b.edge(e.from, e.to, e.kind)
		}
		var got []profile.NodeID
		for _, c := range newProcs(b.p.Tables()).chain(3) {
			if got = append(got, c.node); !c.join || c.kind != boundBranch {
				t.Errorf("%s: %+v", row.name, c)
			}
		}
		if fmt.Sprint(got) != row.want {
			t.Errorf("%s: branches %v, want %s", row.name, got, row.want)
		}
	}
}

// flowGraph is a function that is being drawn: its blocks, and what they lead to. Tests have two ways.
type flowGraph struct {
	rng  *rand.Rand
	line []int // of each block
	succ [][]int
	loop []bool // tests of loops
}

func (g *flowGraph) block(line int) int {
	g.line, g.succ, g.loop = append(g.line, line), append(g.succ, nil), append(g.loop, false)
	return len(g.line) - 1
}

// statement draws one that begins in a block, and returns the block behind it.
func (g *flowGraph) statement(test, depth int) int {
	next := func() int { return g.block(len(g.line)) }
	lead := func(a, b int) int { g.succ[a] = append(g.succ[a], b); return b }
	kind := g.rng.IntN(4)
	switch {
	case depth == 0 || kind == 0: // work
		return lead(test, next())
	case kind == 1: // loop
		body := g.list(lead(test, next()), depth-1)
		lead(body, test)
		g.loop[test] = true
	case kind == 2: // if
		then := g.list(lead(test, next()), depth-1)
		after := lead(test, next())
		return lead(lead(then, next()), after)
	default: // if, else
		then := g.list(lead(test, next()), depth-1)
		other := g.list(lead(test, next()), depth-1)
		return lead(other, lead(then, next()))
	}
	return lead(test, next())
}

func (g *flowGraph) list(from, depth int) int {
	for range 1 + g.rng.IntN(3) {
		from = g.statement(from, depth)
	}
	return from
}

// copied gives one of the blocks that lead to a test a copy of it, if it has several: both decide the
// same, and none of them alone.
func (g *flowGraph) copied() (which int, ok bool) {
	before := make([][]int, len(g.succ))
	for v, list := range g.succ {
		for _, w := range list {
			before[w] = append(before[w], v)
		}
	}
	for _, v := range g.rng.Perm(len(g.succ)) {
		if len(g.succ[v]) == 2 && len(before[v]) > 1 && !g.loop[v] {
			c := g.block(g.line[v])
			g.succ[c] = slices.Clone(g.succ[v])
			from := before[v][g.rng.IntN(len(before[v]))]
			g.succ[from][slices.Index(g.succ[from], v)] = c
			return v, true
		}
	}
	return 0, false
}

// chains are the lines of what lies around each block that was there first.
func (g *flowGraph) chains(n int) (out []string) {
	var tests []int
	for v, list := range g.succ {
		if len(list) == 2 {
			tests = append(tests, v)
		}
	}
	b := newBuilder(1, len(g.succ), tests...)
	for v, list := range g.succ {
		b.p.Nodes[v].Frames[0].Line = int32(10 + g.line[v])
		for i, w := range list {
			b.edge(v, w, []profile.EdgeKind{profile.EdgeFall, profile.EdgeTaken}[i])
		}
	}
	ps := newProcs(b.p.Tables())
	for v := range n {
		var around []string
		for _, c := range ps.chain(profile.NodeID(v)) {
			around = append(around, fmt.Sprint(c.kind, b.p.Nodes[c.node].Frames[0].Line, c.join))
		}
		out = append(out, fmt.Sprint(around))
	}
	return out
}

// Compilers copy a test for each way on which they know something more (jump threading). The copies
// decide like the one that they were: what lies around a block is the same.
func TestCopiesOfABranchAreOne(t *testing.T) {
	copies := 0
	for seed := range uint64(300) {
		g := &flowGraph{rng: rand.New(rand.NewPCG(seed, 1))}
		g.list(g.block(0), 3)
		n := len(g.succ)
		want, copied := g.chains(n), map[int]bool{}
		for range 1 + g.rng.IntN(3) {
			which, ok := g.copied()
			if !ok {
				break
			}
			copies++
			copied[which] = true
			got := g.chains(n)
			for v := range want {
				if got[v] != want[v] && !copied[v] {
					t.Fatalf("seed %d: around block %d of %v, on lines %v, is %s, want %s", seed, v, g.succ, g.line, got[v], want[v])
				}
			}
		}
	}
	if copies < 200 {
		t.Errorf("%d copies of branches", copies)
	}
}
