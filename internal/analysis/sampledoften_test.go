package analysis

import (
	"testing"

	"lime/internal/profile"
)

// Some few samples of an event are no cause, however well they fit.
func TestFewEventsAreNoCause(t *testing.T) {
	for _, c := range []struct {
		name    string
		threads map[profile.ThreadID]float64
		want    bool
	}{
		{"one sample", map[profile.ThreadID]float64{3: 256}, false},
		{"23 samples", map[profile.ThreadID]float64{3: 256 * 23}, false},
		{"24 samples of several threads", map[profile.ThreadID]float64{3: 256 * 20, 4: 256 * 4}, true},
	} {
		w := &rows{least: map[int32]float64{0: 256}}
		h := &happening{event: &profile.Event{Kind: 0}, threads: c.threads}
		if got := h.often(w); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}
