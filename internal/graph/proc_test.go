package graph

import (
	"maps"
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
		if got := slices.Sorted(maps.Keys(p.Around(l.Header, latch))); !slices.Equal(got, want) {
			t.Errorf("around %d: %v, want %v", latch, got, want)
		}
	}
}
