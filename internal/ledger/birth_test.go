package ledger

import (
	"math"
	"testing"

	"lime/internal/profile"
)

// TestBirth starts threads behind the system call that made them, in a block where the maker goes
// on too, and lets the maker's call stand in two blocks that end in the same instruction.
func TestBirth(t *testing.T) {
	lines := map[string]int32{"guard": 10, "body": 10, "born": 70, "make": 71, "make-first": 71, "made": 71}
	w := newWorld(4, lines, map[string]uint32{"body": 7})
	work := func(tr *track, p int) {
		tr.loop("guard", "body", 1000+1000*p, nil)
	}
	w.node("make")
	first := w.node("make-first")
	w.prof.Nodes[first].LastAddr = w.prof.Nodes[w.nodes["make"]].LastAddr
	main := w.thread("wrapper-end", "make") // the stack names the one block, the return is counted from the other
	main.ret()
	main.back = first
	main.fall("made")
	for range 2 {
		main.take("make")
		main.call("syscall", profile.EdgeCall, func() {
			main.fall("born")
			main.fall("parent")
		})
		main.fall("made")
	}
	main.fall("own")
	work(main, 3)
	main.end()
	for p := range 3 {
		tr := w.thread("born")
		tr.take("child")
		work(tr, p)
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Loop, 10, 1)
	for _, r := range a.Rows {
		if r.Kind == BrokenFlow || r.Kind == Branch || r.Kind == Unaccounted || math.Abs(r.Cycles) > 0.01*a.Total && r.Kind != Loop {
			t.Errorf("%s at %d: %g of %g", r.Kind, r.Place.Line, r.Cycles, a.Total)
		}
	}
}

// TestOverlaps has the first round of a loop in a block of its own that overlaps the loop's, within
// another loop: the row is a loop.
func TestOverlaps(t *testing.T) {
	w := newWorld(2, map[string]int32{"first": 10, "turn": 10, "outer": 9}, nil)
	at := func(n string, lo, hi uint64) {
		id := w.node(n)
		w.prof.Nodes[id].Addr, w.prof.Nodes[id].LastAddr = lo, hi
	}
	at("first", 0x100, 0x140) // from above both loops to the inner test
	at("head", 0x110, 0x11c)
	at("turn", 0x120, 0x140)
	at("outer", 0x144, 0x14c)
	for p := range 2 {
		tr := w.thread("start")
		for i := range 5 {
			if i == 0 {
				tr.fall("first")
			} else {
				tr.take("head")
				tr.fall("turn")
			}
			for range 10 + 50*p {
				tr.take("turn")
			}
			tr.fall("outer")
		}
		tr.fall("end")
		tr.end()
	}
	w.barrier(t)
	near(t, w.account(t), Loop, 10, 1)
}

// TestTwinCalls counts all returns of a call at one of the two blocks that end in it, as a
// collector does that knows a return by its address.
func TestTwinCalls(t *testing.T) {
	w := newWorld(2, map[string]int32{"first": 10, "again": 10, "test": 11}, map[string]uint32{"f": 5})
	w.node("first")
	w.node("again")
	w.prof.Nodes[w.nodes["first"]].LastAddr = w.prof.Nodes[w.nodes["again"]].LastAddr
	for p := range 2 {
		tr := w.thread("start")
		tr.fall("first")
		for i := range 10 + 40*p {
			if i > 0 {
				tr.take("again")
			}
			tr.call("f", profile.EdgeCall, func() {})
			tr.back = w.nodes["again"]
			tr.fall("test")
		}
		tr.fall("end")
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Loop, 11, 1)
	if len(a.Notes) > 0 || len(a.Rows) != 1 {
		t.Errorf("%v %+v", a.Notes, a.Rows)
	}
}

// TestHole leaves a wait in the middle of one thread's way out of the counts: the thread goes on
// behind it, and it is not to blame for what comes then.
func TestHole(t *testing.T) {
	w := newWorld(4, map[string]int32{"guard": 10, "body": 10}, map[string]uint32{"body": 7})
	for p := range 4 {
		tr := w.thread("start")
		tr.fall("dock")
		if p == 0 {
			tr.at = w.node("released")
			tr.spend()
		} else {
			tr.take("released")
		}
		tr.loop("guard", "body", 1000+100*p, nil)
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Loop, 10, 1)
	for _, r := range a.Rows {
		if r.Kind != Loop && math.Abs(r.Cycles) > 10 {
			t.Errorf("%s %g", r.Kind, r.Cycles)
		}
	}
}

// TestLastArriver lets the thread that came last to the barrier before pass through code at its
// start which the others visit at their end.
func TestLastArriver(t *testing.T) {
	w := newWorld(4, map[string]int32{"guard": 10, "body": 10, "check": 80}, map[string]uint32{"body": 7})
	for p := range 4 {
		last := p == 2
		tr := w.thread(map[bool]string{true: "check", false: "round"}[last])
		if last {
			tr.take("round")
		}
		tr.loop("guard", "body", 1000+1000*p, nil)
		if last {
			tr.fall("wake")
		} else {
			tr.fall("check")
			tr.fall("sleep")
		}
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Loop, 10, 1)
	for _, r := range a.Rows {
		if r.Kind != Loop && math.Abs(r.Cycles) > 0.001*a.Total {
			t.Errorf("%s at %d: %g of %g", r.Kind, r.Place.Line, r.Cycles, a.Total)
		}
	}
}

// TestMainCallsThreadFunction has a main thread that works too: it calls the function in which the
// others start, and has the work in it that only the first one does.
func TestMainCallsThreadFunction(t *testing.T) {
	w := newWorld(8, map[string]int32{"main": 99, "fn": 78, "tree": 79}, map[string]uint32{"tree": 1000})
	for p := range 8 {
		var tr *track
		if p == 0 {
			tr = w.thread("main")
			tr.openers = append(tr.openers, tr.at)
			tr.to("fn", profile.EdgeCall)
			tr.take("tree")
		} else {
			tr = w.thread("fn", "start_thread")
		}
		tr.fall("wait")
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Branch, 78, 1)
	nothing(t, a, 78, 99)
}
