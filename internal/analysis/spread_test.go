package analysis

import (
	"slices"
	"testing"

	"lime/internal/analysis/synth"
)

// With few decisions each has its share; with thousands that all follow one pattern no line has
// one per cent, and the report says that instead of naming one or speaking of chance.
func TestSpreadThin(t *testing.T) {
	for _, tt := range []struct {
		events int
		spread bool
	}{{90, false}, {30_000, true}} {
		res, err := Run(synth.Flow(synth.Default(tt.events, 16)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := res.Sections[0]
		said := slices.ContainsFunc(s.Verdicts, func(v Verdict) bool { return v.Code == "spread-thin" })
		if said != tt.spread || (len(s.Causes) == 0) != tt.spread {
			t.Errorf("%d events: %d causes, verdicts %v", tt.events, len(s.Causes), s.Verdicts)
		}
		if s.Ledger.RelResidual > 1e-9 {
			t.Errorf("%d events: residual %v", tt.events, s.Ledger.RelResidual)
		}
	}
}
