package native

import (
	"testing"

	"lime/internal/collect"
)

// Threads that end within a period are told, if they are more than a few.
func TestBriefThreads(t *testing.T) {
	for _, row := range []struct {
		ran  uint64 // ns each
		n    int
		want bool
	}{{100_000, 20, true}, {100_000, 3, false}, {3_000_000, 20, false}, {0, 20, false}} {
		r, _ := recording(t, Options{})
		r.events.by = "cpu-clock"
		for range row.n {
			r.main.lives.hasLived(&thread{end: 10, cpu: onCPU{total: row.ran}})
		}
		notes := collect.Notes{}
		r.noteBrief(notes)
		if told := len(notes.List()) > 0; told != row.want {
			t.Errorf("%d threads of %d ns: %v", row.n, row.ran, notes.List())
		}
	}
}
