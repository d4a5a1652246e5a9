package sim_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestPatience counts how often threads look that wait for a point in time: each look takes what it
// takes natively, whoever else runs.
func TestPatience(t *testing.T) {
	exe := compile(t, "patience.c", "gcc -O2 -pthread -o OUT SRC")
	_, status, said := simulate(t, 4, exe)
	if status != 0 {
		t.Fatalf("status %d: %s", status, said)
	}
	const pass = 10_000_000 // nanoseconds
	takes := []struct {
		name         string
		least, other int // nanoseconds: what a look takes, and its instructions at most
	}{{"sched_yield and rdtsc", 510, 100}, {"clock_gettime", 25, 100}, {"rdtsc", 10, 20}, {"nanosleep and clock_gettime", 525, 200}}
	var got []int
	for line := range strings.Lines(said) {
		var n int
		if k, _ := fmt.Sscanf(line, "looked %d", &n); k == 1 {
			got = append(got, n)
		}
	}
	if len(got) != 2*len(takes) {
		t.Fatalf("said %s", said)
	}
	for i, n := range got {
		w := takes[i%len(takes)]
		if lo, hi := pass/(w.least+w.other), pass/w.least; n < lo || n > hi {
			t.Errorf("%s, %s: looked %d times in %d ns, want %d to %d", w.name, []string{"alone", "with others"}[i/len(takes)], n, pass, lo, hi)
		}
	}
}
