// A core that is the only one to run does so for long at a time. That others sleep, and that it is
// the only one now and then, must not show.

package sim_test

import (
	"fmt"
	"math"
	"testing"

	"lime/internal/profile"
)

// Who sleeps for a moment beside one that works goes on when the moment is over.
func TestNapsEndInTime(t *testing.T) {
	for _, cores := range []int{2, 8} {
		_, status, said, out := simulated(t, cores, compile(t, "naps.c", plain))
		var most int
		if n, err := fmt.Sscan(out, &most); status != 0 || n != 1 {
			t.Fatalf("status %d, printed %q, %v: %s", status, out, err, said)
		}
		if most < 3000 || most > 6000 {
			t.Errorf("%d cores: slept for %d ns instead of 3000", cores, most)
		}
	}
}

// Samples of call paths and counts say the same of what functions take, also where threads take
// turns at the same places.
func TestPathsAgreeWithCounts(t *testing.T) {
	program := compile(t, "inturn.go", "go build -o OUT SRC")
	for _, times := range []string{"1", "2", "4", "8"} {
		path, status, said := simulate(t, 4, program, times)
		if status != 0 {
			t.Fatalf("status %d: %s", status, said)
		}
		r, err := profile.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		counted, sampled := countedBy(t, r), sampledBy(r)
		for _, f := range []string{"main.check", "main.apply"} {
			if math.Abs(counted[f]-sampled[f]) > 0.05 {
				t.Errorf("%s times: %s: %.3f of the instructions, %.3f of the samples", times, f, counted[f], sampled[f])
			}
		}
	}
}

// countedBy is each function's share of the instructions of all parts.
func countedBy(t *testing.T, r *profile.Reader) map[string]float64 {
	t.Helper()
	tab, by := r.Tables(), map[string]float64{}
	if err := r.Scan(func(in *profile.Instance) error {
		for _, c := range in.Edges {
			if e := &tab.Edges[c.Row]; e.From >= 0 && e.Kind != profile.EdgeReturn {
				n := &tab.Nodes[e.From]
				by[tab.Functions[n.Function].Name] += float64(c.N) * float64(n.Instrs)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return shared(by)
}

// sampledBy is each function's share of the time of the call paths.
func sampledBy(r *profile.Reader) map[string]float64 {
	tab, by := r.Tables(), map[string]float64{}
	for _, s := range r.Tables().PathSamples {
		if s.Metric == "time" {
			by[tab.Functions[tab.Nodes[tab.Paths[s.Path].Node].Function].Name] += s.Value
		}
	}
	return shared(by)
}

func shared(by map[string]float64) map[string]float64 {
	sum := 0.0
	for _, x := range by {
		sum += x
	}
	for f := range by {
		by[f] /= sum
	}
	return by
}
