package analysis

import (
	"math"
	"testing"

	"lime/internal/ledger"
	"lime/internal/profile"
	"lime/internal/stat"
)

// A cause with the same share in every instance has no spread; one that a single instance brings
// has nearly all there is.
func TestShareInterval(t *testing.T) {
	for _, n := range []int{2, 40, 5000} {
		acc := &ledger.Account{}
		steady, once := ledger.Row{}, ledger.Row{}
		for i := range n {
			acc.Instances = append(acc.Instances, ledger.InstanceTotal{Total: float64(100 + i%7)})
			steady.Course = append(steady.Course, ledger.Course{Index: i, Cycles: 0.25 * float64(100+i%7)})
			acc.Total += float64(100 + i%7)
		}
		once.Course = []ledger.Course{{Index: n / 2, Cycles: 0.3 * acc.Total}, {Index: n / 2, Cycles: 0.2 * acc.Total}} // two rows taken together
		d := newShareDraws(acc)
		if v := d.interval(0.25, d.course(&posting{rows: []*ledger.Row{&steady}})); math.Abs(v.Lo-0.25) > 1e-9 || math.Abs(v.Hi-0.25) > 1e-9 {
			t.Errorf("%d instances, steady: %+v", n, v)
		}
		v := d.interval(0.5, d.course(&posting{rows: []*ledger.Row{&once}}))
		if v.Lo != 0 || v.Hi < 0.9 || v.Value != 0.5 {
			t.Errorf("%d instances, once: %+v", n, v)
		}
	}
}

// Three events go with the times: two about as well as each other, one worse. The account knows one
// of the two: the other is its rival.
func TestAccountRivals(t *testing.T) {
	unit := func(xs ...float64) []float64 {
		mean, size := 0.0, 0.0
		for _, x := range xs {
			mean += x / float64(len(xs))
		}
		for i := range xs {
			xs[i] -= mean
			size += xs[i] * xs[i]
		}
		for i := range xs {
			xs[i] /= math.Sqrt(size)
		}
		return xs
	}
	tab := &profile.Tables{Kinds: []profile.EventKind{{Name: "l1d-miss"}}, Files: []profile.File{{Path: "a.c"}}}
	for line := range int32(3) {
		tab.Events = append(tab.Events, profile.Event{Node: profile.None, Frames: []profile.Frame{{Line: 10 + line}}})
	}
	r := &runner{tab: tab, prog: newProgram(tab), opt: DefaultOptions()}
	o := &outcome{threads: 8, label: []int32{0, 1, 2}, controls: make([]bool, 3), lines: map[int32][]Member{}, others: map[int32][]Rival{}}
	o.m = &matrix{t: unit(1, 2, 3, 4, 5, 6, 7, 8), events: []event{{hw: true}, {hw: true, row: 1, group: 1}, {hw: true, row: 2, group: 2}}}
	o.clusters = stat.Matrix{N: 8}
	for _, v := range [][]float64{unit(1, 2, 4, 3, 5, 6, 8, 7), unit(2, 1, 3, 4, 6, 5, 7, 8), unit(5, 1, 2, 8, 3, 4, 7, 6)} {
		o.clusters.Rows = append(o.clusters.Rows, v...)
	}
	c := &Cause{Event: "l1d-miss", Family: FamilyHardware, key: causeKey{lineKey: lineKey{line: 10}, hw: true}}
	c.File, c.Line = "a.c", 10
	cluster, ok := r.clusterOf(o, c)
	if !ok || cluster != 0 {
		t.Fatalf("cluster %d, %v", cluster, ok)
	}
	got := r.accountRivals(o, c, cluster)
	if len(got) != 1 || got[0].Line != 11 || got[0].R2 < 0.9 {
		t.Errorf("rivals %+v, want line 11", got)
	}
	if got := r.accountRivals(o, c, 2); got != nil {
		t.Errorf("what hardly goes with the times has rivals: %+v", got)
	}
}
