package cli

import (
	"testing"
	"time"
)

// TestCostWords tells what a run took beside a native one; a native run shorter than its clock can
// tell has no ratio.
func TestCostWords(t *testing.T) {
	for _, c := range []struct {
		counted, plain cost
		want           string
	}{
		{cost{1500 * time.Millisecond, 3 * time.Second}, cost{time.Second, 2 * time.Second},
			"the run took 1.50 s, 1.50 times the native 1.00 s, and 3.00 s of processor time, 1.50 times the native 2.00 s"},
		{cost{200 * time.Millisecond, 100 * time.Millisecond}, cost{50 * time.Millisecond, 0},
			"the run took 0.20 s, 4.00 times the native 0.05 s, and 0.10 s of processor time, natively 0.00 s"},
	} {
		if got := costWords(c.counted, c.plain); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
