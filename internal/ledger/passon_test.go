package ledger

import (
	"testing"

	"lime/internal/profile"
)

// busy calls a function that loops n times.
func (t *track) busy(from string, n int) {
	t.fall(from)
	t.call("busy", profile.EdgeCall, func() { t.loop("spin", "turn", n, nil) })
}

var busyLines = map[string]int32{"spin": 90, "turn": 90, "test": 20, "guard": 10, "body": 10, "pick": 30, "base": 5,
	"extra": 21, "each": 11, "next": 10}

// TestPassedOn has all work done by one function, called with different amounts from several
// places: the decisions to call it are the causes, not its loop.
func TestPassedOn(t *testing.T) {
	for _, threads := range []int{6, 8, 32} {
		w := newWorld(threads, busyLines, map[string]uint32{"turn": 3})
		branch, loop := make([]float64, threads), make([]float64, threads)
		for p := range threads {
			tr := w.thread("start")
			tr.busy("base", 1000)
			tr.fall("test")
			before := tr.time
			if p%2 == 1 {
				tr.busy("extra", 600)
				tr.fall("join")
			} else {
				tr.take("join")
			}
			branch[p], before = float64(tr.time-before), tr.time
			tr.loop("guard", "body", 10+2*p, func(int) {
				tr.busy("each", 10)
				tr.fall("next")
			})
			loop[p] = float64(tr.time - before)
			tr.fall("end")
			tr.end()
		}
		w.barrier(t)
		a := w.account(t)
		last := threads - 1
		near(t, a, Branch, 20, (branch[last]-sum(branch)/float64(threads))/a.Total)
		near(t, a, Loop, 10, (loop[last]-sum(loop)/float64(threads))/a.Total)
		nothing(t, a, 10, 20)
		if len(a.Passed) != 1 || a.Passed[0].Place.Line != 90 || a.Passed[0].PassedOn == 0 {
			t.Errorf("passed on: %+v", a.Passed)
		}
	}
}

// TestPassedOnTwice goes through a wrapper, and a branch in it that follows from its caller.
func TestPassedOnTwice(t *testing.T) {
	w := newWorld(8, busyLines, map[string]uint32{"turn": 3})
	step := func(tr *track, from string, heavy bool) {
		tr.fall(from)
		tr.call("step", profile.EdgeCall, func() {
			tr.fall("pick")
			if heavy {
				tr.take("heavy")
				tr.busy("heavy-call", 500)
			} else {
				tr.fall("light")
				tr.busy("light-call", 10)
			}
			tr.fall("stepped")
		})
	}
	for p := range 8 {
		tr := w.thread("start")
		for i := range 20 {
			tr.fall("test")
			if i < 2*p*p/8 {
				tr.take("yes")
				step(tr, "extra", true)
			} else {
				tr.fall("no")
				step(tr, "base", false)
			}
			tr.fall("again")
		}
		tr.fall("end")
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Branch, 20, 1)
	nothing(t, a, 20)
}

// TestSameProportion has one thread go another way at a test and then loop longer in a function
// that is called from three places, all of which that thread uses in another proportion: the dear
// call gets it all.
func TestSameProportion(t *testing.T) {
	w := newWorld(8, busyLines, map[string]uint32{"turn": 3})
	for p := range 8 {
		tr := w.thread("start")
		tr.busy("base", 2000)
		tr.fall("test")
		if p == 3 {
			tr.busy("extra", 3000)
			tr.fall("join")
		} else {
			tr.take("join")
		}
		tr.busy("each", 2000)
		tr.fall("end")
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Branch, 20, 1)
	nothing(t, a, 20)
}

// TestNotPassedOn has a loop whose count depends on the thread, in a function with two call sites
// that differ a little: they do not explain it.
func TestNotPassedOn(t *testing.T) {
	w := newWorld(8, busyLines, map[string]uint32{"turn": 3})
	for p := range 8 {
		tr := w.thread("start")
		for range 10 + p%3 {
			tr.busy("base", 100+p*p*10)
			tr.fall("between")
			tr.busy("extra", 100+p*p*10)
			tr.fall("after")
		}
		tr.fall("again")
		tr.busy("each", 100)
		tr.fall("end")
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	if got := a.find(Loop, 90).Share; got < 0.8 {
		t.Errorf("the loop keeps %.3f", got)
	}
}

// TestMainAndWorkers lets the main thread call the worker function from another place than the
// others start it: what it does more in there stays there.
func TestMainAndWorkers(t *testing.T) {
	w := newWorld(8, busyLines, map[string]uint32{"turn": 3})
	for p := range 8 {
		body := func(tr *track) {
			tr.fall("test")
			n := 100
			if p == 0 {
				n = 400
			}
			tr.loop("guard", "body", n, nil)
		}
		var tr *track
		if p == 0 {
			tr = w.thread("main")
			tr.fall("base")
		} else {
			tr = w.thread("clone")
		}
		tr.call("worker", profile.EdgeCall, func() { body(tr) })
		tr.fall("end")
		tr.end()
	}
	w.barrier(t)
	near(t, w.account(t), Loop, 10, 1)
}

// TestRegions carves functions out of a graph: tail calls make shared code a region of its own.
func TestRegions(t *testing.T) {
	w := newWorld(1, nil, nil)
	tr := w.thread("start")
	for _, f := range []string{"f", "g"} {
		tr.fall("call-" + f)
		tr.call(f, profile.EdgeCall, func() {
			tr.fall(f + "2")
			tr.to("shared", profile.EdgeJump)
			tr.fall("shared2")
		})
		tr.fall("after-" + f)
	}
	tr.fall("call-r")
	tr.call("r", profile.EdgeCall, func() {
		tr.fall("r2")
		tr.call("r", profile.EdgeCall, func() { tr.take("r3") })
		tr.fall("r3")
	})
	tr.fall("end")
	tr.end()
	reg := newRegions(w.prof.Tables())
	group := func(n string) int32 { return reg.group[w.nodes[n]] }
	for _, same := range [][]string{{"f", "f2"}, {"g", "g2"}, {"shared", "shared2"}, {"r", "r2", "r3"}, {"start", "end", "call-r"}} {
		for _, n := range same {
			if group(n) != group(same[0]) || group(n) < 0 {
				t.Errorf("%s is in %d, %s in %d", n, group(n), same[0], group(same[0]))
			}
		}
	}
	for n, sites := range map[string]int{"f": 1, "g": 1, "shared": 2, "r": 1, "start": 0} {
		if got := len(reg.sites[group(n)]); got != sites {
			t.Errorf("%s has %d sites, want %d", n, got, sites)
		}
	}
}

// TestDeepSharing: code that is shared at more depths than are split is still in some region.
func TestDeepSharing(t *testing.T) {
	tab := &profile.Tables{Nodes: make([]profile.Node, 2*maxRounds+2)}
	edge := func(from, to int, kind profile.EdgeKind) {
		tab.Edges = append(tab.Edges, profile.Edge{From: profile.NodeID(from), To: profile.NodeID(to), Kind: kind})
	}
	const f, g, shared = 0, 1, 2 // two functions that jump into one chain, the first at every link
	edge(g, shared, profile.EdgeJump)
	for v := shared; v < len(tab.Nodes); v++ {
		edge(f, v, profile.EdgeJumpInd)
		if v > shared {
			edge(v-1, v, profile.EdgeFall)
		}
	}
	reg := newRegions(tab)
	for v := range maxRounds {
		if reg.group[v] < 0 {
			t.Errorf("node %d belongs to no region", v)
		}
	}
	if len(reg.sites[reg.group[shared]]) != 2 {
		t.Errorf("the shared chain is entered at %v, want two sites", reg.sites[reg.group[shared]])
	}
}
