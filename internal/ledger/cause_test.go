package ledger

import (
	"math"
	"slices"
	"testing"

	"lime/internal/profile"
)

// near fails unless the row has the share, within a point.
func near(t *testing.T, a *Account, kind Kind, line int32, share float64) {
	t.Helper()
	if got := a.find(kind, line).Share; math.Abs(got-share) > 0.01 {
		t.Errorf("%s at line %d has %.3f of the imbalance, want %.3f", kind, line, got, share)
		for _, r := range a.Rows {
			t.Logf("%-14s line %3d %8.1f %6.3f", r.Kind, r.Place.Line, r.Cycles, r.Share)
		}
	}
}

// nothing fails if any row but those of the given lines has more than a thousandth of the
// imbalance.
func nothing(t *testing.T, a *Account, but ...int32) {
	t.Helper()
	for _, r := range a.Rows {
		if !slices.Contains(but, r.Place.Line) && math.Abs(r.Share) > 0.001 {
			t.Errorf("%s at line %d has %.4f of the imbalance", r.Kind, r.Place.Line, r.Share)
		}
	}
}

// loop runs a rotated loop: a guard above, the test at the bottom.
func (t *track) loop(guard, body string, n int, inside func(i int)) {
	t.fall(guard)
	if n == 0 {
		t.take(guard + "-skip")
		return
	}
	for i := range n {
		if i == 0 {
			t.fall(body)
		} else {
			t.take(body)
		}
		if inside != nil {
			inside(i)
		}
	}
	t.fall(body + "-done")
}

func TestLoopOfTwoThreads(t *testing.T) {
	w := newWorld(2, map[string]int32{"guard": 10, "body": 10, "body-done": 12}, map[string]uint32{"body": 7})
	for p := range 2 {
		tr := w.thread("start")
		tr.loop("guard", "body", 100+900*p, nil)
		tr.fall("end")
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Loop, 10, 1)
	if a.Total != 900*7/2 {
		t.Errorf("total %g", a.Total)
	}
	row := a.find(Loop, 10)
	for _, e := range row.Edges {
		if e.Way == "taken" && !slices.Equal(e.Counts, []uint64{99, 999}) {
			t.Errorf("taken %v", e.Counts)
		}
	}
}

// TestZeroTrips merges the guard of a loop that some threads never enter with the loop itself.
func TestZeroTrips(t *testing.T) {
	w := newWorld(4, map[string]int32{"guard": 10, "body": 10}, map[string]uint32{"body": 7})
	for p := range 4 {
		tr := w.thread("start")
		tr.loop("guard", "body", 300*p, nil)
		tr.fall("end")
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Loop, 10, 1)
	nothing(t, a, 10)
}

func TestBalanced(t *testing.T) {
	w := newWorld(8, map[string]int32{"guard": 10, "body": 10}, nil)
	for range 8 {
		tr := w.thread("start")
		tr.loop("guard", "body", 1000, nil)
		tr.fall("end")
		tr.end()
	}
	w.barrier(t)
	if a := w.account(t); len(a.Rows) > 0 || a.Total != 0 {
		t.Errorf("total %g, rows %+v", a.Total, a.Rows)
	}
}

// TestDecoys has every thread take its own way at a branch, a switch and a pointer, all of equal
// cost, and one loop that differs.
func TestDecoys(t *testing.T) {
	lines := map[string]int32{"test": 20, "switch": 21, "pcall": 22, "guard": 10, "body": 10}
	w := newWorld(8, lines, map[string]uint32{"left": 50, "right": 50, "f0": 9, "f1": 9, "f2": 9, "hot": 1000})
	for p := range 8 {
		tr := w.thread("start")
		for i := range 40 {
			tr.fall("test")
			if i < 5*p {
				tr.take("left")
			} else {
				tr.fall("right")
			}
			tr.fall("switch")
			tr.to([]string{"s0", "s1", "s2"}[(p+i*i)%3], profile.EdgeJumpInd)
			tr.fall("pcall")
			tr.call([]string{"f0", "f1", "f2"}[(p*i+p)%3], profile.EdgeCallInd, func() {})
			tr.fall("next")
		}
		tr.fall("hot")
		tr.loop("guard", "body", 10+p, nil)
		tr.fall("end")
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Loop, 10, 1)
	for _, r := range a.Rows {
		if r.Place.Line >= 20 && math.Abs(r.Cycles) > 1e-9 {
			t.Errorf("%s at line %d: %g", r.Kind, r.Place.Line, r.Cycles)
		}
	}
}

// TestPlanted plants a branch, a loop, an indirect call and a switch of known weight on the last
// thread.
func TestPlanted(t *testing.T) {
	for _, threads := range []int{2, 8, 32} {
		lines := map[string]int32{"test": 20, "switch": 21, "pcall": 22, "guard": 10, "body": 10}
		w := newWorld(threads, lines, map[string]uint32{"heavy": 3000, "light": 0, "slow": 201, "fast": 1, "big": 1501, "small": 1, "body": 5})
		for p := range threads {
			last := p == threads-1
			pick := func(yes, no string) string {
				if last {
					return yes
				}
				return no
			}
			tr := w.thread("start")
			tr.fall("test")
			tr.take(pick("heavy", "light")) // 3000
			n := 100
			if last {
				n += 700
			}
			tr.loop("guard", "body", n, nil) // 3500
			for range 10 {
				tr.fall("pcall")
				tr.call(pick("slow", "fast"), profile.EdgeCallInd, func() {}) // 2000
				tr.fall("after")
			}
			tr.fall("switch")
			tr.to(pick("big", "small"), profile.EdgeJumpInd) // 1500
			tr.fall("end")
			tr.end()
		}
		w.barrier(t)
		a := w.account(t)
		near(t, a, Branch, 20, 0.30)
		near(t, a, Loop, 10, 0.35)
		near(t, a, IndirectCall, 22, 0.20)
		near(t, a, IndirectJump, 21, 0.15)
		nothing(t, a, 10, 20, 21, 22)
	}
}

// TestTree walks trees of different depths by recursion: the test that ends it is the cause.
func TestTree(t *testing.T) {
	lines := map[string]int32{"rec": 30, "call-a": 31, "call-b": 32}
	w := newWorld(8, lines, map[string]uint32{"rec": 4, "leaf": 20})
	for p := range 8 {
		tr := w.thread("start")
		tr.fall("call0")
		var rec func(depth int)
		rec = func(depth int) {
			if depth == 0 {
				tr.take("leaf")
				return
			}
			tr.fall("call-a")
			tr.call("rec", profile.EdgeCall, func() { rec(depth - 1) })
			tr.fall("call-b")
			tr.call("rec", profile.EdgeCall, func() { rec(max(depth-3, 0)) })
			tr.fall("done")
		}
		tr.call("rec", profile.EdgeCall, func() { rec(2 + p) })
		tr.fall("end")
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Branch, 30, 1)
	nothing(t, a, 30)
}

// TestTailCall jumps into one function or another, which return to the caller's caller.
func TestTailCall(t *testing.T) {
	w := newWorld(4, map[string]int32{"choose": 40, "call": 39}, map[string]uint32{"dear": 500, "cheap": 10})
	for p := range 4 {
		tr := w.thread("start")
		for range 10 {
			tr.fall("call")
			tr.call("wrapper", profile.EdgeCall, func() {
				tr.fall("choose")
				if p == 2 {
					tr.take("tail")
					tr.to("dear", profile.EdgeJump)
				} else {
					tr.fall("cheap")
				}
			})
			tr.fall("again")
		}
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Branch, 40, 1)
	if a.Instances[0].Last != 2 {
		t.Errorf("last is %d", a.Instances[0].Last)
	}
}

// TestNoSymbols names the address of the deciding instruction.
func TestNoSymbols(t *testing.T) {
	w := newWorld(2, nil, map[string]uint32{"body": 7})
	for p := range 2 {
		tr := w.thread("start")
		tr.loop("guard", "body", 100+900*p, nil)
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	body := w.prof.Nodes[w.nodes["body"]]
	if r := a.Rows[0]; r.Kind != Loop || r.Place.Addr != body.LastAddr || r.Place.Image != "a.out" || math.Abs(r.Share-1) > 0.01 {
		t.Errorf("%+v", r)
	}
}

// TestBarrierInLoop starts and ends every instance in the same call of the barrier, called from a
// loop: the open calls are the same at both ends, though one of them returned and was called again.
func TestBarrierInLoop(t *testing.T) {
	w := newWorld(4, map[string]int32{"guard": 10, "body": 10, "step": 50}, map[string]uint32{"body": 7})
	w.node("worker")
	for range 3 {
		for p := range 4 {
			tr := w.thread("released", "worker", "wait")
			tr.ret()
			tr.fall("step")
			tr.take("phase")
			tr.loop("guard", "body", 100+100*p, nil)
			tr.fall("wait")
			tr.openers = append(tr.openers, tr.at)
			tr.to("barrier", profile.EdgeCall)
			tr.end()
		}
		w.barrier(t)
	}
	a := w.account(t)
	near(t, a, Loop, 10, 1)
	nothing(t, a, 10)
	if len(a.Notes) > 0 {
		t.Errorf("notes %v", a.Notes)
	}
	if len(a.Instances) != 3 || a.Total != 3*150*7 {
		t.Errorf("%d instances, total %g", len(a.Instances), a.Total)
	}
}

// TestEntries lets one thread enter elsewhere, where more is to do.
func TestEntries(t *testing.T) {
	w := newWorld(4, map[string]int32{"main": 60, "start": 61}, map[string]uint32{"main": 100})
	for p := range 4 {
		tr := w.thread(map[bool]string{true: "main", false: "start"}[p == 0])
		tr.fall("work")
		tr.end()
	}
	w.barrier(t)
	near(t, w.account(t), Entry, 60, 1)
}

// TestBillions has a loop of 10^12 iterations with a branch in it that leans differently in each
// thread.
func TestBillions(t *testing.T) {
	w := newWorld(3, map[string]int32{"body": 10, "odd": 11}, map[string]uint32{"odd": 5, "even": 2})
	for p := range uint64(3) {
		tr := w.thread("start")
		tr.fall("body")
		odd := 300_000_000_000 + p*100_000_000_000
		const n = 1_000_000_000_000
		round := func(way string) func() {
			return func() {
				tr.at = w.node("body")
				tr.take(way)
				tr.take("body")
			}
		}
		tr.repeat(odd, round("odd"))
		tr.repeat(n-odd, round("even"))
		tr.fall("end")
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	near(t, a, Loop, 10, 1)
	if a.Total != 3*100_000_000_000 {
		t.Errorf("total %g", a.Total)
	}
}

// TestBrokenFlow counts a loop that nothing leads to: it is said so, and the account still adds up.
func TestBrokenFlow(t *testing.T) {
	w := newWorld(2, nil, nil)
	for p := range 2 {
		tr := w.thread("start")
		tr.fall("end")
		if p == 1 {
			at := tr.at
			tr.repeat(1000, func() {
				tr.at = w.node("x")
				tr.fall("y")
				tr.take("x")
			})
			tr.at = at
		}
		tr.end()
	}
	w.barrier(t)
	a := w.account(t)
	if len(a.Rows) == 0 || a.Rows[0].Kind != BrokenFlow || len(a.Notes) != 1 {
		t.Errorf("%+v %v", a.Rows, a.Notes)
	}
}
