package analysis

import (
	"strings"
	"testing"

	"lime/internal/ledger"
	"lime/internal/profile"
)

// So few chunks are the cause where the threads differ by their number, and by no more than any deal
// of as many would leave. Where some have many more, or other things decide, they are not.
func TestFewChunks(t *testing.T) {
	for _, c := range []struct {
		name      string
		event     string
		dealt     []uint64
		instances int
		share     float64
		title     string
	}{
		{"fewer than threads", EventChunk, []uint64{1, 1, 1, 1, 1, 0, 0, 0}, 1, 1, "5 chunks for 8 threads"},
		{"one more for some", EventChunk, []uint64{2, 1, 1, 2, 1, 2, 1, 2}, 1, 1, "12 chunks for 8 threads"},
		{"in several instances", EventChunk, []uint64{3, 5, 4, 4, 5, 6, 5, 4}, 3, 0.9, "12 chunks for 8 threads"},
		{"not as many in each", EventChunk, []uint64{3, 5, 4, 4, 5, 6, 5, 5}, 3, 0.9, "about 12.3 chunks for 8 threads"},
		{"some have many more", EventChunk, []uint64{9, 1, 1, 2, 1, 2, 1, 2}, 1, 1, ""},
		{"as many for each", EventChunk, []uint64{1, 1, 1, 1, 1, 1, 1, 1}, 1, 1, ""},
		{"something else decides", EventChunk, []uint64{2, 1, 1, 2, 1, 2, 1, 2}, 1, 0.3, ""},
		{"tasks", EventTask, []uint64{1, 1, 1, 1, 1, 0, 0, 0}, 1, 1, ""},
	} {
		p := &posting{event: c.event, share: c.share, cycles: 100, rows: []*ledger.Row{{Kind: ledger.Dealt, Dealt: c.dealt, Tasks: c.dealt}}}
		few := p.fewChunks(&Section{Ledger: &ledger.Account{Instances: make([]ledger.InstanceTotal, c.instances)}})
		if few == nil {
			if c.title != "" {
				t.Errorf("%s: not told", c.name)
			}
			continue
		}
		var counts []ThreadCount
		for i, n := range c.dealt {
			counts = append(counts, ThreadCount{Thread: profile.ThreadID(i), Count: n})
		}
		says := few.sentence(&runner{meta: &profile.Meta{ClockUnit: "instructions"}}, counts)
		if few.title() != c.title || !strings.Contains(says, strings.TrimSuffix(c.title, " for 8 threads")+" to 8 threads") {
			t.Errorf("%s: %s: %s", c.name, few.title(), says)
		}
	}
}
