package ledger

import (
	"math"
	"testing"

	"lime/internal/profile"
)

// shared is a world in which whoever runs more rounds of one loop runs fewer of another, and one
// thread has more to do besides.
func shared(threads int) *world {
	lines := map[string]int32{"first": 10, "many": 10, "second": 20, "few": 20, "third": 30, "extra": 30}
	w := newWorld(threads, lines, map[string]uint32{"many": 50, "few": 50, "extra": 10})
	for p := range threads {
		more := (p*5 + 3) % 8
		tr := w.thread("start")
		tr.loop("first", "many", 100+10*more, nil)
		tr.loop("second", "few", 200-10*more, nil)
		extra := 10
		if p == threads*5/8 {
			extra = 100
		}
		tr.loop("third", "extra", extra, nil)
		tr.end()
	}
	return w
}

// TestNet: rows that make up for one another in all threads do not hide what is left.
func TestNet(t *testing.T) {
	for _, threads := range []int{4, 8} {
		testNet(t, shared(threads))
	}
}

func testNet(t *testing.T, w *world) {
	t.Helper()
	w.barrier(t)
	a := w.account(t)
	near(t, a, Loop, 30, 1)
	nothing(t, a, 30, 10, 20)
	for _, r := range a.Rows {
		if r.Place.Line != 30 && (len(r.With) != 1 || math.Abs(r.Share) > 0.1) {
			t.Errorf("%s at line %d has %.3f of the imbalance, taken together with %d rows", r.Kind, r.Place.Line, r.Share, len(r.With))
		}
	}
	if a.RelResidual > 1e-12 {
		t.Errorf("residual %g", a.RelResidual)
	}
}

// TestNetFewThreads: two threads differ in everything by chance, so that nothing is known to belong
// together.
func TestNetFewThreads(t *testing.T) {
	w := shared(2)
	w.barrier(t)
	for _, r := range w.account(t).Rows {
		if len(r.With) > 0 {
			t.Errorf("%s at line %d was taken together with %s at line %d", r.Kind, r.Place.Line, r.With[0].Kind, r.With[0].Place.Line)
		}
	}
}

// TestNetRecursion walks trees of two shapes: what one has more of in children, the other has in
// depth. How many nodes there are is what costs time, and the call within the recursion counts
// them.
func TestNetRecursion(t *testing.T) {
	lines := map[string]int32{"walk": 53, "child": 56, "call": 57, "next": 55, "trees": 72, "tree": 72}
	w := newWorld(8, lines, map[string]uint32{"walk": 20})
	for p := range 8 {
		tr := w.thread("start")
		tr.loop("trees", "tree", 16, func(i int) {
			depth, children := 6, 2 // 127 nodes
			if i < 2*p {
				depth, children = 3, 4 // 85 nodes
			}
			tr.call("walk", profile.EdgeCall, func() { walk(tr, depth, children) })
			tr.fall("back")
		})
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Call, 57, 1)
	nothing(t, a, 57)
	if r := a.find(Call, 57); len(r.With) < 2 || math.Abs(r.With[0].Share) < 2 {
		t.Errorf("the recursion was taken together with %d rows: the trees are no test of it", len(r.With))
	}
}

func walk(tr *track, depth, children int) {
	if depth == 0 {
		tr.fall("leaf")
		return
	}
	tr.take("children")
	for c := range 4 {
		tr.fall("child")
		if c < children {
			tr.take("call")
			tr.call("walk", profile.EdgeCall, func() { walk(tr, depth-1, children) })
		}
		tr.fall("next")
	}
	tr.fall("done")
}

// Where an exception is caught, control comes back into the middle of a function that is under way;
// and all who call a library's function for the first time come through the dynamic linker. Neither
// makes a recursion of those who throw, or call. A function that calls itself is one.
func TestRecursions(t *testing.T) {
	tab := &profile.Tables{
		Images:    []profile.Image{{Path: "/app"}, {Path: "/lib64/ld-linux-x86-64.so.2"}},
		Functions: []profile.Function{{Name: "work", Entry: 100}, {Name: "throw", Entry: 200}, {Name: "linker", Entry: 300}, {Name: "again", Entry: 400}},
		Nodes: []profile.Node{
			{Addr: 100, Function: 0}, {Addr: 150, Function: 0}, {Addr: 200, Function: 1},
			{Addr: 300, Function: 2, Image: 1}, {Addr: 400, Function: 3},
		},
	}
	for _, e := range []profile.Edge{
		{From: 0, To: 2, Kind: profile.EdgeCall},    // work throws
		{From: 2, To: 1, Kind: profile.EdgeJumpInd}, // and catches
		{From: 1, To: 0, Kind: profile.EdgeJump},
		{From: 2, To: 3, Kind: profile.EdgeCall},    // throw is called through the linker,
		{From: 3, To: 0, Kind: profile.EdgeJumpInd}, // as work is
		{From: 4, To: 4, Kind: profile.EdgeCall},
	} {
		tab.Edges = append(tab.Edges, e)
	}
	got := recursions(tab)
	for v, recursive := range []bool{false, false, false, false, true} {
		if (got[v] >= 0) != recursive {
			t.Errorf("block %d: recursion %d", v, got[v])
		}
	}
}
