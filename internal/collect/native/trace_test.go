package native

import (
	"testing"

	"lime/internal/profile"
)

// Which call path a thread was on when: each sample of work stands within a part of its thread.
func TestTracesLieWithinParts(t *testing.T) {
	needs(t, needSamples, needTracing)
	p, _ := record(t, Options{Command: []string{build(t, barrierSource)}})
	parts := map[profile.ThreadID][]profile.Part{}
	if err := p.ScanParts(func(in *profile.Instance) error {
		for _, part := range in.Parts {
			parts[part.Thread] = append(parts[part.Thread], part)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	n, time := 0, 0.0
	for _, x := range p.Traces {
		for _, s := range x.Samples {
			n++
			time += float64(s.Length)
			within := false
			for _, part := range parts[x.Thread] {
				within = within || part.Start <= s.At && s.At <= part.Arrive
			}
			if !within {
				t.Errorf("a sample of thread %d at %d lies in none of its parts", x.Thread, s.At)
			}
		}
	}
	if hasSamples(p) && (n == 0 || time == 0) {
		t.Errorf("%d samples speak for %.0f ns", n, time)
	}
	none, _ := record(t, Options{Command: []string{build(t, barrierSource)}, Traces: -1})
	if len(none.Traces) != 0 {
		t.Errorf("traces of %d threads without a budget", len(none.Traces))
	}
}
