package ledger

import (
	"math"
	"strings"
	"testing"

	"lime/internal/profile"
)

// TestEven evens out one of two loops: what is left is the other one's.
func TestEven(t *testing.T) {
	lines := map[string]int32{"g1": 10, "b1": 10, "g2": 20, "b2": 20}
	w := newWorld(3, lines, map[string]uint32{"b1": 7, "b2": 3}) // with more threads the loops, which make up for one another, are one row
	for p := range 3 {
		tr := w.thread("start")
		tr.loop("g1", "b1", 100+50*p, nil)
		tr.loop("g2", "b2", 100+100*(2-p), nil)
		tr.end()
	}
	w.barrier(t)
	l := New(w.prof)
	ev, err := l.Even(0, []Target{Target{File: "a.c", Line: 10}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	// The first loop takes 7 x 150 on average; the second 3 x (100 + 100 (2-p)).
	if want := 3 * (300. - 200); math.Abs(ev.After.TMax-ev.After.Mean-want) > 1e-6 {
		t.Errorf("after: %+v, want a total of %g", ev.After, want)
	}
	if math.Abs(ev.Before.Mean-ev.After.Mean) > 1e-6 {
		t.Errorf("mean %g, was %g", ev.After.Mean, ev.Before.Mean)
	}
	byAddr, err := l.Even(0, []Target{Target{Addr: w.prof.Nodes[w.nodes["b1"]].LastAddr}}, 1)
	if err != nil || math.Abs(byAddr.After.TMax-ev.After.TMax) > 0.01*ev.After.TMax {
		t.Errorf("by address: %+v, %v", byAddr, err)
	}
	if _, err := l.Even(0, []Target{Target{File: "a.c", Line: 77}}, 1); err == nil || !strings.Contains(err.Error(), "a.c:77") {
		t.Errorf("no such line: %v", err)
	}
}

// TestEvenRepeatsTheRow: what a row is charged with is what evening its line out takes away, be it
// a library's or taken together with others.
func TestEvenRepeatsTheRow(t *testing.T) {
	opposite := newWorld(8, map[string]int32{"g1": 10, "b1": 10, "g2": 20, "b2": 20}, map[string]uint32{"b1": 7, "b2": 3})
	for p := range 8 {
		tr := opposite.thread("start")
		tr.loop("g1", "b1", 100+50*p, nil)
		tr.loop("g2", "b2", 100+100*(7-p), nil)
		tr.end()
	}
	for name, w := range map[string]*world{"library": libraryWorld("/lib/libc.so.6", false), "opposite": opposite} {
		w.barrier(t)
		row := &w.account(t).Rows[0]
		ev, err := New(w.prof).Even(0, []Target{Target{File: "a.c", Line: row.Place.Line}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if gone := ev.Before.TMax - ev.After.TMax; math.Abs(gone-row.Cycles) > 1e-6*row.Cycles {
			t.Errorf("%s: line %d is charged %g, evened out it takes %g away", name, row.Place.Line, row.Cycles, gone)
		}
	}
}

// TestEvenTakesAllOffAtOnce has two rows that make up for one another, each ten times as large as
// the threads' times, as those of a recursion are: what is left of both is what is taken off.
func TestEvenTakesAllOffAtOnce(t *testing.T) {
	inst := &profile.Instance{Parts: []profile.Part{{Thread: 0, Arrive: 100}, {Thread: 1, Arrive: 80}}}
	r := &result{flow: &flow{inst: inst, parts: 2}, times: []float64{100, 80}, charges: []charge{
		{class: classDecision, id: 0, dev: []float64{1000, -1000}}, {class: classDecision, id: 1, dev: []float64{-990, 990}}}}
	var ev Evened
	ev.enter(r, func(*charge) bool { return true })
	if after := ev.Instances[0].After; after[0] != 90 || after[1] != 90 {
		t.Errorf("times %v, want 90 for both", after)
	}
}
