package sim_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"lime/internal/profile"
)

// Which call path a thread was on when: each sample stands within a part of its thread, goes by the
// clock of the parts, and speaks for as much as the sums by path have.
func TestTraces(t *testing.T) {
	bin, err := lime()
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"simulate", "count"} {
		for _, program := range []string{"groups.c", "nested.c"} {
			path := filepath.Join(t.TempDir(), "lime.data")
			if out, err := exec.Command(bin, verb, "-o", path, "--", compile(t, program, plain+" -fopenmp")).CombinedOutput(); err != nil {
				t.Fatalf("%s %s: %v: %s", verb, program, err, out)
			}
			r, err := profile.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			holdTraces(t, verb+" "+program, r)
		}
	}
}

func holdTraces(t *testing.T, what string, r *profile.Reader) {
	t.Helper()
	parts := map[profile.ThreadID][]profile.Part{}
	if err := r.ScanParts(func(in *profile.Instance) error {
		for _, p := range in.Parts {
			parts[p.Thread] = append(parts[p.Thread], p)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	sums, n := map[profile.ThreadID]float64{}, 0
	for _, s := range r.Tables().PathSamples {
		if s.Metric == "time" {
			sums[s.Thread] += s.Value
		}
	}
	for _, x := range r.Tables().Traces {
		for _, s := range x.Samples {
			n++
			sums[x.Thread] -= float64(s.Length)
			within := false
			for _, p := range parts[x.Thread] {
				within = within || p.Start <= s.At && s.At <= p.Arrive
			}
			if !within {
				t.Errorf("%s: a sample of thread %d at %d lies in none of its parts", what, x.Thread, s.At)
			}
		}
	}
	if n == 0 {
		t.Errorf("%s: no samples", what)
	}
	for thread, left := range sums {
		if left != 0 {
			t.Errorf("%s: thread %d: the sums by path have %.0f more than the trace", what, thread, left)
		}
	}
}
