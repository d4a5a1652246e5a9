package graph

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// What decides over another iteration of a loop is no check that leads to a failure, wherever it
// stands, as long as the loop has another way out; and code behind such a check is no branch's.
func TestLoopTestIsNoCheck(t *testing.T) {
	for _, row := range []struct {
		name  string
		succ  [][]int32
		fails []int32
		test  int32
		pdom  int32 // of block 1, 0: not asked for
	}{
		{"no check", [][]int32{{1}, {3, 2}, {1}, {}}, nil, 1, 3},
		{"the header checks", [][]int32{{1}, {5, 2}, {4, 3}, {1}, {}, {}}, []int32{5}, 2, 2},
		{"the last block checks", [][]int32{{1}, {2}, {5, 3}, {6, 4}, {1}, {}, {}}, []int32{6}, 2, 2},
		{"what leads back checks", [][]int32{{1}, {4, 2}, {3, 1}, {}, {}}, []int32{3}, 1, 4},
		{"the failure is prepared first", [][]int32{{1}, {5, 2}, {4, 3}, {1}, {}, {6}, {}}, []int32{6}, 2, 2},
		{"no other way out", [][]int32{{1}, {3, 2}, {1}, {}}, []int32{3}, 1, 0},
		{"loop before the program fails", [][]int32{{1}, {3, 2}, {1}, {4}, {}}, []int32{4}, 1, 0},
	} {
		blocks := make([]ProcBlock, len(row.succ))
		for v, list := range row.succ {
			blocks[v].Cond = len(list) == 2
		}
		for _, v := range row.fails {
			blocks[v].Fails = true
		}
		p := NewProc(row.succ, blocks)
		if len(p.Loops) != 1 || p.Loops[0].Test != row.test || row.pdom != 0 && p.Pdom[1] != row.pdom {
			t.Errorf("%s: loops %+v, post-dominators %v; want test %d, and %d behind block 1", row.name, p.Loops, p.Pdom, row.test, row.pdom)
		}
	}
}

// Loops with one header are one loop, and each latch has its own part of it.
func TestLoopsWithOneHeader(t *testing.T) {
	p := NewProc([][]int32{{1}, {2, 3}, {1}, {4, 5}, {1}, {}}, make([]ProcBlock, 6))
	if len(p.Loops) != 1 {
		t.Fatalf("%d loops", len(p.Loops))
	}
	l := &p.Loops[0]
	latches := p.Latches(l)
	slices.Sort(latches)
	if !slices.Equal(latches, []int32{2, 4}) {
		t.Errorf("latches %v", latches)
	}
	for latch, want := range map[int32][]int32{2: {1, 2}, 4: {1, 3, 4}} {
		if got := slices.Sorted(maps.Keys(p.Around(l.Header, latch, len(want)))); !slices.Equal(got, want) {
			t.Errorf("around %d: %v, want %v", latch, got, want)
		}
		if got := p.Around(l.Header, latch, len(want)-1); got != nil {
			t.Errorf("around %d: %v, and at most %d blocks were asked for", latch, got, len(want)-1)
		}
	}
}

// A jump whose targets are not known leads to all blocks that nothing else leads to, and what ends in a
// failure whichever way it goes is found; both as the definitions say it.
func TestOpenJumps(t *testing.T) {
	for seed := range uint64(500) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		n := 2 + rnd.IntN(14)
		succ, blocks := make([][]int32, n), make([]ProcBlock, n)
		for v := range succ {
			switch rnd.IntN(5) {
			case 0, 1:
				blocks[v].Indirect = true
			case 2:
				blocks[v].Fails = true
			default:
				succ[v] = []int32{rnd.Int32N(int32(n)), rnd.Int32N(int32(n))}
			}
		}
		p := NewProc(succ, blocks)
		want, led := openly(succ, blocks)
		for v := range succ {
			if got := slices.Sorted(slices.Values(p.Succ[v])); !slices.Equal(got, want[v]) {
				t.Errorf("seed %d: block %d leads to %v, want %v", seed, v, got, want[v])
			}
			if got := slices.Sorted(slices.Values(p.Pred[v])); !slices.Equal(got, led[v]) {
				t.Errorf("seed %d: to block %d lead %v, want %v", seed, v, got, led[v])
			}
			bad := func(w int32) bool { return !p.fails[w] }
			if fails := blocks[v].Fails || len(want[v]) > 0 && !slices.ContainsFunc(want[v], bad); p.fails[v] && !fails {
				t.Errorf("seed %d: block %d does not fail", seed, v)
			} else if fails && !p.fails[v] {
				t.Errorf("seed %d: block %d fails", seed, v)
			}
		}
	}
}

// openly are the successors and predecessors of blocks, in order.
func openly(succ [][]int32, blocks []ProcBlock) (to, from [][]int32) {
	n := len(succ)
	edge := make([]bool, n*n)
	led := make([]bool, n)
	for v, list := range succ {
		for _, w := range list {
			edge[v*n+int(w)], led[w] = true, true
		}
	}
	to, from = make([][]int32, n), make([][]int32, n)
	for v := range n {
		for w := range n {
			if edge[v*n+w] || blocks[v].Indirect && w > 0 && !led[w] {
				to[v], from[w] = append(to[v], int32(w)), append(from[w], int32(v))
			}
		}
	}
	return to, from
}
