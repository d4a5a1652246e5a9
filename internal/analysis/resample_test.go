package analysis

import (
	"math"
	"testing"
)

// foundIn makes a cause that was found in some of n instances of equal weight.
func foundIn(n int, in func(i int) bool) (*Cause, []*outcome) {
	g := &gathered{}
	c := &Cause{from: g, StableThreads: 1}
	var outs []*outcome
	for i := range n {
		outs = append(outs, &outcome{seq: 10 + i, weight: 1})
		if in(i) {
			g.pByIns = append(g.pByIns, 1e-6)
			c.Instances = append(c.Instances, InstanceScore{Seq: 10 + i, R2: 0.9})
			c.R2.Value += 0.9 / float64(n)
		}
	}
	c.R2.Lo, c.R2.Hi = c.R2.Value-0.01, c.R2.Value+0.01
	return c, outs
}

func TestResampleInstances(t *testing.T) {
	for _, c := range []struct {
		name   string
		n      int
		in     func(i int) bool
		lo, hi float64 // of how often it is found again
		wide   bool
	}{
		{"all of 12", 12, func(int) bool { return true }, 1, 1, false},
		{"one of 12", 12, func(i int) bool { return i == 5 }, 0.55, 0.75, true}, // 1 - (11/12)^12 = 0.648
		{"two of 12", 12, func(i int) bool { return i < 2 }, 0.82, 0.95, true},  // 1 - (10/12)^12 = 0.888
		{"half of 12", 12, func(i int) bool { return i%2 == 0 }, 1, 1, true},
		{"a single one", 1, func(int) bool { return true }, 1, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cause, outs := foundIn(c.n, c.in)
			before := cause.R2
			newResampler(outs, 0.05).judge(cause)
			if got := cause.StableInstances; got < c.lo || got > c.hi || cause.Stability != got {
				t.Errorf("found again in %v of the draws, want %v to %v", got, c.lo, c.hi)
			}
			if wider := cause.R2.Hi-cause.R2.Lo > before.Hi-before.Lo+0.05; wider != c.wide {
				t.Errorf("bounds %v from %v", cause.R2, before)
			}
			if cause.R2.Lo > before.Lo || cause.R2.Hi < before.Hi || cause.R2.Value != before.Value {
				t.Errorf("bounds %v narrower than %v", cause.R2, before)
			}
		})
	}
}

// The bounds of a mean of independent figures must be those that statistics gives.
func TestResampleSpread(t *testing.T) {
	const n = 100
	c, outs := foundIn(n, func(i int) bool { return i%2 == 0 })
	c.R2.Lo, c.R2.Hi = c.R2.Value, c.R2.Value
	newResampler(outs, 0.05).judge(c)
	want := 1.96 * 0.45 / math.Sqrt(n)
	for _, got := range []float64{c.R2.Value - c.R2.Lo, c.R2.Hi - c.R2.Value} {
		if got < 0.75*want || got > 1.25*want {
			t.Errorf("half width %v, want about %v", got, want)
		}
	}
}
