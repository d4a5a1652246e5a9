package calls

import (
	"slices"
	"testing"
)

// TestTouched: what some calls touch, and that of unknown ones every argument counts.
func TestTouched(t *testing.T) {
	memory := map[uint64]uint64{0x100: 0x5000, 0x108: 7, 0x110: 0x6000, 0x118: 9}
	word := func(addr uint64) (uint64, bool) { v, ok := memory[addr]; return v, ok }
	table := NewTable()
	for _, row := range []struct {
		name string
		nr   uint64
		args [6]uint64
		want []Span
	}{
		{"write", 1, [6]uint64{1, 0x1000, 20}, []Span{{0x1000, 20, true, false}}},
		{"read", 0, [6]uint64{1, 0x1000, 20}, []Span{{0x1000, 20, false, true}}},
		{"writev", 20, [6]uint64{1, 0x100, 2}, []Span{{0x100, 32, true, false}, {0x5000, 7, true, false}, {0x6000, 9, true, false}}},
		{"readv, the list ends early", 19, [6]uint64{1, 0x110, 2}, []Span{{0x110, 32, true, false}, {0x6000, 9, false, true}}},
		{"getpid", 39, [6]uint64{0x1000}, nil},
		{"unknown", 9999, [6]uint64{1, 2, 3, 4, 5, 6}, []Span{{1, 4096, true, true}, {2, 4096, true, true}, {3, 4096, true, true},
			{4, 4096, true, true}, {5, 4096, true, true}, {6, 4096, true, true}}},
	} {
		var got []Span
		table.Touched(row.nr, &row.args, word, func(s Span) { got = append(got, s) })
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}
