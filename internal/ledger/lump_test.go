package ledger

import (
	"math"
	"testing"

	"lime/internal/profile"
)

// TestCopies has a loop whose test stands at the end of both arms of a branch in it; each thread
// prefers another arm, of equal cost, and another loop is to blame.
func TestCopies(t *testing.T) {
	lines := map[string]int32{"arm": 20, "left": 19, "right": 19, "guard": 10, "body": 10}
	w := newWorld(8, lines, map[string]uint32{"left": 5, "right": 5, "body": 7})
	for p := range 8 {
		tr := w.thread("start")
		for i := range 100 {
			if i == 0 {
				tr.fall("arm")
			} else {
				tr.take("arm")
			}
			if (i*7+p)%8 < p {
				tr.take("left")
			} else {
				tr.fall("right")
			}
		}
		tr.fall("done")
		tr.loop("guard", "body", 10+p, nil)
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Loop, 10, 1)
	for _, r := range a.Rows {
		if r.Place.Line != 10 && math.Abs(r.Cycles) > 1e-9 {
			t.Errorf("%s at line %d: %g", r.Kind, r.Place.Line, r.Cycles)
		}
	}
}

// TestCopiesApart goes over the bits of a number, and works for those that are set. The highest bit
// is set, so that the test at the end of that arm ends the loop more often than its copy at the end
// of the other; the work is the arm's all the same.
func TestCopiesApart(t *testing.T) {
	w := newWorld(8, map[string]int32{"arm": 20, "left": 19, "right": 19}, map[string]uint32{"left": 100})
	w.prof.Nodes[w.node("right")].Kind = profile.EndCond // although it always goes one way
	for p := range 8 {
		tr := w.thread("start")
		tr.fall("arm")
		for bits := p + 8; bits > 0; bits >>= 1 {
			if bits&1 == 1 {
				tr.take("left")
			} else {
				tr.fall("right")
			}
			if bits > 1 {
				tr.take("arm")
			}
		}
		tr.fall("done")
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Branch, 20, 1)
	nothing(t, a, 20)
}

// TestNoCopies has two tests of one line with the same targets that always go different ways: a
// wait before work, and after it.
func TestNoCopies(t *testing.T) {
	w := newWorld(4, map[string]int32{"before": 24, "after": 24, "guard": 10, "body": 10}, nil)
	for p := range 4 {
		tr := w.thread("wait")
		tr.fall("after")
		tr.fall("go")
		tr.loop("guard", "body", 100+100*p, nil)
		tr.fall("before")
		tr.take("wait")
		tr.end()
	}
	for _, n := range []string{"before", "after"} { // both can go both ways
		w.ids[profileEdge(w, n, "go")] = w.prof.AddEdge(profileEdge(w, n, "go"))
		w.ids[profileEdge(w, n, "wait")] = w.prof.AddEdge(profileEdge(w, n, "wait"))
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Loop, 10, 1)
	nothing(t, a, 10)
}

func profileEdge(w *world, from, to string) profile.Edge {
	return profile.Edge{From: w.node(from), To: w.node(to), Kind: profile.EdgeTaken}
}
