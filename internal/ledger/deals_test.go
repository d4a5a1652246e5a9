package ledger

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
)

// dealing writes loops that are dealt out to threads, as compilers make them: their head is at line at,
// their body from the next line on, and what stands last in it is at line at + 5, where there may be
// another test, and with GCC the one of whether there is one more piece.
type dealing struct {
	w *world
	t *track
}

func (d dealing) call(at, name string) {
	d.t.fall(at)
	d.t.call(name, profile.EdgeCall, func() {})
}

// body is the work of a piece, of 7 items but for the first of 3; odd pieces come to what is behind the
// test at its end.
func (d dealing) body(loop string, piece int) {
	items := 3
	if piece > 0 {
		items = 7
	}
	for range items {
		d.t.take(loop + "body")
		d.t.fall(loop + "last")
		if piece%2 == 1 {
			d.t.fall(loop + "inner")
		}
		d.t.fall(loop + "more?")
	}
}

// gcc comes for the first piece before the loop, and calls the end behind it.
func (d dealing) gcc(loop string, pieces int) {
	d.call(loop+"first", "GOMP_loop_dynamic_next@plt")
	d.t.fall(loop + "first?")
	for i := range pieces {
		d.body(loop, i)
		d.call(loop+"next", "GOMP_loop_dynamic_next@plt")
		d.t.fall(loop + "next?")
	}
	d.call(loop+"end", "GOMP_loop_end_nowait@plt")
}

// merged is the same where the compiler has made one call of both.
func (d dealing) merged(loop string, pieces int) {
	d.call(loop+"next", "GOMP_loop_guided_next@plt")
	d.t.fall(loop + "next?")
	for i := range pieces {
		d.body(loop, i)
		d.call(loop+"next", "GOMP_loop_guided_next@plt")
		d.t.fall(loop + "next?")
	}
	d.call(loop+"end", "GOMP_loop_end@plt")
}

// llvm says that it begins, and comes for all pieces in one place.
func (d dealing) llvm(loop string, pieces int) {
	d.call(loop+"begin", "__kmpc_dispatch_init_4")
	for i := range pieces {
		d.call(loop+"next", "__kmpc_dispatch_next_4")
		d.t.fall(loop + "next?")
		d.body(loop, i)
	}
	d.call(loop+"next", "__kmpc_dispatch_next_4")
	d.t.fall(loop + "next?")
}

// TestDealtLoopsStandAtTheirHeads: where threads were given one piece more, or less, the row stands at
// the head of the loop, or where its body begins, however the compiler has put it, and knows how many
// each was given: with several loops in one function, and a loop around them, those of its own. What
// else is tested at the line is another row.
func TestDealtLoopsStandAtTheirHeads(t *testing.T) {
	lines := map[string]int32{"start": 1, "between": 2, "out": 90}
	for i, loop := range []string{"a", "b"} {
		at := int32(10 + 30*i)
		for name, line := range map[string]int32{"begin": at, "first": at, "first?": at, "body": at + 1, "last": at + 5, "inner": at + 5,
			"more?": at + 5, "next": at + 5, "next?": at + 5, "end": at + 6} {
			lines[loop+name] = line
		}
	}
	given := map[string][]int{"a": {2, 1, 1, 2}, "b": {0, 1, 1, 1}}
	for name, way := range map[string]func(d dealing, loop string, pieces int){"gcc": dealing.gcc, "merged": dealing.merged, "llvm": dealing.llvm} {
		for _, loops := range [][]string{{"a"}, {"a", "b"}} {
			for _, rounds := range []int{1, 3} {
				w := newWorld(4, lines, map[string]uint32{"abody": 1000, "bbody": 700, "ainner": 20, "binner": 20})
				for p := range 4 {
					tr := w.thread("start")
					for range rounds {
						tr.take("between")
						for _, loop := range loops {
							way(dealing{w, tr}, loop, given[loop][p])
						}
						tr.fall("again?")
					}
					tr.fall("out")
					tr.end()
				}
				for name, id := range w.nodes {
					w.runtimes(name, id)
				}
				w.barrier(t)
				a := w.account(t)
				for k, loop := range loops {
					dealtRow(t, fmt.Sprintf("%s, loop %s of %v, %d rounds", name, loop, loops, rounds), a, int32(10+30*k), given[loop], rounds)
				}
			}
		}
	}
}

// runtimes makes a function of a block that has a runtime's name, and a test of one that has a test's.
func (w *world) runtimes(name string, id profile.NodeID) {
	if strings.HasPrefix(name, "GOMP_") || strings.HasPrefix(name, "__kmpc_") {
		w.prof.Nodes[id].Function = w.prof.AddFunction(profile.Function{Name: name, File: profile.None})
	}
	if strings.HasSuffix(name, "?") {
		w.prof.Nodes[id].Kind = profile.EndCond
	}
}

// TestLoopInOneItemIsNotDealt: where a piece is one item, the loop inside of that leads straight to where
// threads come for the next piece, but for a test that never led anywhere else. Its rounds are its own.
func TestLoopInOneItemIsNotDealt(t *testing.T) {
	w := newWorld(4, map[string]int32{"start": 1, "afirst": 10, "afirst?": 10, "abody": 11, "ainner": 12, "amore?": 15, "anext": 15, "anext?": 15, "aend": 16},
		map[string]uint32{"ainner": 50})
	for p := range 4 {
		d := dealing{w, w.thread("start")}
		d.call("afirst", "GOMP_loop_dynamic_next")
		d.t.fall("afirst?")
		for i := range 4 {
			d.t.take("abody")
			for range 5 + 20*(p/3)*(i/3) {
				d.t.take("ainner")
			}
			d.t.fall("amore?")
			d.call("anext", "GOMP_loop_dynamic_next")
			d.t.fall("anext?")
		}
		d.call("aend", "GOMP_loop_end")
		d.t.end()
	}
	for name, id := range w.nodes {
		w.runtimes(name, id)
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Loop, 12, 1)
	nothing(t, a, 12)
}

// dealtRow wants one row of a loop, which says how many pieces each thread was given; what goes through a
// piece belongs to it.
func dealtRow(t *testing.T, name string, a *Account, head int32, given []int, rounds int) {
	t.Helper()
	found := 0
	for i := range a.Rows {
		row := &a.Rows[i]
		if row.Kind == Loop && row.Place.Line == head+5 {
			t.Errorf("%s: what goes through a piece is a row of its own, with %.3f of the imbalance", name, row.Share)
		}
		if row.Kind != Dealt || row.Place.Line < head || row.Place.Line > head+6 {
			continue
		}
		found++
		for p, n := range given {
			if len(row.Dealt) != len(given) || row.Dealt[p] != uint64(n*rounds) {
				t.Errorf("%s: %v pieces, want %d times %v", name, row.Dealt, rounds, given)
				break
			}
		}
		if row.Place.Line > head+1 || row.Test == nil || row.DealtLoop == 0 ||
			slices.ContainsFunc(a.Tests, func(x LoopTest) bool {
				return x.Place.Line == head+5 && x.DealtLoop != 0 && x.DealtLoop != row.DealtLoop
			}) {
			t.Errorf("%s: %+v", name, row)
		}
	}
	if found != 1 {
		t.Errorf("%s: %d rows", name, found)
	}
}
