package ledger

import (
	"math"
	"strings"
	"testing"
)

// TestEven evens out one of two loops: what is left is the other one's.
func TestEven(t *testing.T) {
	lines := map[string]int32{"g1": 10, "b1": 10, "g2": 20, "b2": 20}
	w := newWorld(4, lines, map[string]uint32{"b1": 7, "b2": 3})
	for p := range 4 {
		tr := w.thread("start")
		tr.loop("g1", "b1", 100+50*p, nil)
		tr.loop("g2", "b2", 100+100*(3-p), nil)
		tr.end()
	}
	w.barrier(t)
	l := New(w.prof)
	ev, err := l.Even(0, Target{File: "a.c", Line: 10}, 1)
	if err != nil {
		t.Fatal(err)
	}
	// The first loop takes 7 x 175 on average; the second 3 x (100 + 100 (3-p)).
	if want := 3 * (400. - 250); math.Abs(ev.After.TMax-ev.After.Mean-want) > 1e-6 {
		t.Errorf("after: %+v, want a total of %g", ev.After, want)
	}
	if math.Abs(ev.Before.Mean-ev.After.Mean) > 1e-6 {
		t.Errorf("mean %g, was %g", ev.After.Mean, ev.Before.Mean)
	}
	byAddr, err := l.Even(0, Target{Addr: w.prof.Nodes[w.nodes["b1"]].LastAddr}, 1)
	if err != nil || math.Abs(byAddr.After.TMax-ev.After.TMax) > 0.01*ev.After.TMax {
		t.Errorf("by address: %+v, %v", byAddr, err)
	}
	if _, err := l.Even(0, Target{File: "a.c", Line: 77}, 1); err == nil || !strings.Contains(err.Error(), "a.c:77") {
		t.Errorf("no such line: %v", err)
	}
}
