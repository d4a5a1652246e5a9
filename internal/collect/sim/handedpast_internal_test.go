package sim

import (
	"testing"

	"lime/internal/engine"
)

// A thread's way is what it has taken since it came past a place: here always blocks of one letter,
// a loop's exit x and a block s that stores to the word.
func TestTheWayUpToTheStore(t *testing.T) {
	type steps struct {
		from, to byte // 0: none
		kind     engine.EdgeKind
		n        uint64
	}
	const fall, call, ret, end, odd = engine.EdgeFall, engine.EdgeCall, engine.EdgeReturn, engine.EdgeEnd, engine.EdgeOdd
	for _, c := range []struct {
		name    string
		list    []steps
		through bool
		begins  int
	}{
		{"the last one of a barrier stores, and goes on behind the loop",
			[]steps{{'p', 's', fall, 1}, {'s', 'x', fall, 1}, {'x', 'w', fall, 1}}, false, 1},
		{"who has a lock comes behind its loop, and then gives it back",
			[]steps{{'p', 'x', fall, 1}, {'x', 'w', fall, 1}, {'w', 's', fall, 1}, {'s', 'w', fall, 1}}, true, 1},
		{"what it did in a loop has been taken out: its way begins anew behind that",
			[]steps{{'p', 'l', fall, 1}, {'m', 'x', fall, 1}, {'x', 's', fall, 1}}, true, 2},
		{"it comes behind the loop in a function that comes back, and then stores",
			[]steps{{'p', 'f', call, 1}, {'f', 'x', fall, 1}, {'x', 0, end, 1}, {'p', 's', ret, 1}, {'s', 'w', fall, 1}}, true, 1},
		{"a function that it calls stores, and only then it comes behind the loop",
			[]steps{{'p', 's', call, 1}, {'s', 0, end, 1}, {'p', 'x', ret, 1}, {'x', 'w', fall, 1}}, false, 1},
		{"of two functions that it calls the first stores",
			[]steps{{'p', 'f', call, 1}, {'f', 's', call, 1}, {'s', 0, end, 1}, {'f', 'r', ret, 1}, {'r', 0, end, 1}, {'p', 'x', ret, 1}}, false, 1},
		{"it comes back from the function in which the place is",
			[]steps{{'p', 'q', fall, 1}, {'q', 0, end, 1}, {'c', 'x', ret, 1}, {'x', 's', fall, 1}}, true, 1},
		{"it comes back to where no call is known",
			[]steps{{'p', 0, end, 1}, {0, 'x', odd, 1}, {'x', 's', fall, 1}}, true, 1},
		{"a function that calls itself comes back before it stores",
			[]steps{{'p', 'f', call, 1}, {'f', 'f', call, 2}, {'f', 'q', fall, 1}, {'q', 0, end, 3}, {'f', 'q', ret, 2},
				{'p', 'x', ret, 1}, {'x', 's', fall, 1}}, true, 1},
		{"a round that closes has no beginning: nothing is known",
			[]steps{{'p', 's', fall, 1}, {'s', 'x', fall, 1}, {'x', 'p', fall, 1}}, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			blocks := make([]engine.Block, 128)
			for i := range blocks {
				blocks[i] = engine.Block{PC: uint64(i) * 16, Size: 16, End: engine.EndRet}
			}
			id := func(b byte) engine.BlockID {
				if b == 0 {
					return engine.NoBlock
				}
				return engine.BlockID(b)
			}
			var edges []engine.Edge
			var list []edgeCount
			for i, s := range c.list {
				edges = append(edges, engine.Edge{From: id(s.from), To: id(s.to), Kind: s.kind})
				list = append(list, edgeCount{engine.EdgeID(i), s.n})
			}
			w := newWay(edges, blocks, list)
			if len(w.begins) != c.begins {
				t.Errorf("it begins at %d places, want %d", len(w.begins), c.begins)
			}
			w.stopAt([]uint64{'s'*16 + 8})
			if got := w.leads([]uint64{'x' * 16}); got != c.through {
				t.Errorf("it leads behind the loop: %v", got)
			}
		})
	}
}
