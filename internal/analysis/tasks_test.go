package analysis

import "testing"

// Tasks are too few at a time only if larger ones would be fewer than the threads; where there are
// very many, small ones are too small, whatever else threads wait for.
func TestManySmallTasksAreNotTooFew(t *testing.T) {
	for _, c := range []struct {
		count    uint64
		overhead float64
		want     bool
	}{{2810, 0.439, true}, {12600, 0.6, true}, {16, 0.439, false}, {50, 0.45, false}, {57, 0.439, true}, {8, 0.11, false}} {
		if got := (&Tasks{Count: c.count, RuntimeShare: c.overhead}).enough(8); got != c.want {
			t.Errorf("%d tasks, %v of the work the runtime's: enough %v", c.count, c.overhead, got)
		}
	}
}
