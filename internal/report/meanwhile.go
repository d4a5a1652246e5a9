// What samples saw while threads waited, in the first sentence.

package report

import (
	"fmt"

	"lime/internal/analysis"
	"lime/internal/unit"
)

// meanwhile says what ran while threads waited at the end of a section, if one place ran for most of
// that time, by all that so few samples allow. It is no claim that this is why they waited.
func (r *Report) meanwhile(most *LossTerm) (words string, at *Place) {
	p := most.ofPlaces()
	if r.Effort == nil || len(r.Effort.Idle) == 0 || p == nil || !p.endOnly(most.Name) {
		return "", nil
	}
	c := &r.Effort.Idle[0]
	if c.unknown() || c.Least <= r.Loss.elsewhere(p) || c.Place.String() == p.Place.String() {
		return "", nil
	}
	what := "the code"
	if c.Loop {
		what = "the loop"
	}
	return fmt.Sprintf("Meanwhile, by %s of the samples, ran %s at", unit.Percent(c.Share), what), &c.Place
}

// endOnly reports whether all that is known of a place is where threads wait for a section's end.
func (p *LossPlace) endOnly(term string) bool {
	ends := term == analysis.TermImbalance || term == analysis.TermWait || term == analysis.TermSerial
	return ends && p.Why == "" && p.Section >= 0 && p.Event == "" && p.Spent == nil
}

// elsewhere is the share of idleness from which code that ran for more of it ran for most of the
// idleness of one place: samples tell of all idleness in one sum, so what ran may have run during
// all that is lost in other places first.
func (l *Loss) elsewhere(p *LossPlace) float64 {
	return 1 - ratio(p.Share, 1-l.Useful-l.Memory)/2
}
