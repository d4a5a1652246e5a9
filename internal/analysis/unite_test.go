package analysis

import (
	"math"
	"testing"

	"lime/internal/profile"
)

// pairProfile has two loops, of blocks 1 and 3, side by side or the second one inside of the first
// one, that go round n and m times.
func pairProfile(n, m []uint64, inside bool) *builder {
	b := newBuilder(len(n), 6, 1, 2, 3)
	b.p.UpdateMeta(profile.Meta{ClockUnit: "instructions", RunTime: 10000, Complete: true, NodeTime: "visits",
		TimeLabel: profile.Measured, CountLabel: profile.Measured})
	counts := map[int][]uint64{}
	add := func(e int, c uint64) { counts[e] = append(counts[e], c) }
	enter := b.edge(0, 1, profile.EdgeFall)
	var again, leave, second, third, out int
	if inside { // 0 -> 1 -> (2 -> 3 <-> 3 -> 1)* -> 4
		again, leave = b.edge(1, 2, profile.EdgeTaken), b.edge(1, 4, profile.EdgeFall)
		second, third, out = b.edge(2, 3, profile.EdgeFall), b.edge(3, 3, profile.EdgeTaken), b.edge(3, 1, profile.EdgeFall)
	} else { // 0 -> 1 <-> 1 -> 2 -> 3 <-> 3 -> 4
		again, leave = b.edge(1, 1, profile.EdgeTaken), b.edge(1, 2, profile.EdgeFall)
		second, third, out = b.edge(2, 3, profile.EdgeFall), b.edge(3, 3, profile.EdgeTaken), b.edge(3, 4, profile.EdgeFall)
	}
	end := b.edge(4, profile.None, profile.EdgeEnd)
	var times []uint64
	for i := range n {
		add(enter, 1)
		add(end, 1)
		if inside { // n rounds of m each
			add(again, n[i])
			add(leave, 1)
			add(second, n[i])
			add(third, n[i]*(m[i]-1))
			add(out, n[i])
			times = append(times, 4*(1+n[i]+1+n[i]+n[i]*m[i]+1))
			continue
		}
		add(again, n[i]-1)
		add(leave, 1)
		add(second, 1)
		add(third, m[i]-1)
		add(out, 1)
		times = append(times, 4*(1+n[i]+1+m[i]+1))
	}
	b.instance(times, counts, nil)
	for in := range b.p.Instances(0) {
		for i := range in.Parts {
			in.Parts[i].Exit = 4
		}
	}
	return b
}

// Loops side by side that go round as often in every thread are one cause, and so is a loop with
// the one inside of it that makes the same threads late; loops that differ in other threads are
// not.
func TestUnite(t *testing.T) {
	some := []uint64{100, 120, 400, 130, 110, 90, 150, 100}
	for _, c := range []struct {
		name   string
		n, m   []uint64
		inside bool
		causes int
		line   int // of the first
	}{
		{"side by side, as often", some, some, false, 1, 11},
		{"side by side, for different reasons", some, []uint64{300, 100, 390, 130, 310, 90, 150, 360}, false, 2, 11},
		{"one inside the other, the same threads", []uint64{20, 20, 44, 20, 22, 20, 20, 20},
			[]uint64{20, 20, 44, 20, 22, 20, 20, 20}, true, 1, 13},
	} {
		res, err := Run(pairProfile(c.n, c.m, c.inside).p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		sec := res.Sections[0]
		if len(sec.Causes) != c.causes || sec.Causes[0].Line != c.line || len(sec.Causes[0].With) != 2-c.causes {
			t.Errorf("%s: %d causes, the first at %d with %d", c.name, len(sec.Causes), sec.Causes[0].Line, len(sec.Causes[0].With))
		}
		if sum := *sec.Causes[0].Share; c.causes == 1 && math.Abs(sum-1) > 0.02 {
			t.Errorf("%s: the cause explains %.3f", c.name, sum)
		}
	}
}
