package sim

import (
	"slices"
	"testing"

	"lime/internal/engine"
)

// TestPiecesDoNotOverlap lets a segment go on that had ended, as when a go statement has made none of
// the program's goroutines: what came since, before the goroutine left its processor, is in no time of
// two pieces, nor is that in which it had none.
func TestPiecesDoNotOverlap(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, since []stretch // pieces that had ended before, and since
		want          []stretch
	}{
		{"nothing came since", nil, nil, []stretch{{10, 40}}},
		{"it left before", []stretch{{0, 5}}, nil, []stretch{{0, 5}, {10, 40}}},
		{"it left since", nil, []stretch{{20, 22}}, []stretch{{10, 20}, {20, 22}, {30, 40}}},
		{"before and since", []stretch{{0, 5}}, []stretch{{20, 22}, {25, 27}}, []stretch{{0, 5}, {10, 20}, {20, 22}, {25, 27}, {30, 40}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sg := &segments{places: &places{eng: &engine.Engine{}}}
			g := &thread{book: &book{}, earlier: pieces(c.since)}
			g.segment.at = 20
			if len(c.since) > 0 {
				g.segment.at = 30
			}
			sg.reopen(g, &segment{start: segmentStart{at: 10}, at: 20, earlier: pieces(c.before)})
			var got []stretch
			for _, p := range append(g.earlier, &segment{start: g.segment, at: 40}) {
				got = append(got, stretch{p.start.at, p.at})
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("pieces %v, want %v", got, c.want)
			}
		})
	}
}

func pieces(list []stretch) (out []*segment) {
	for _, s := range list {
		out = append(out, &segment{start: segmentStart{at: s.from}, at: s.to, left: true})
	}
	return out
}
