package report

import (
	"strings"
	"testing"

	"lime/internal/analysis"
)

// The headline claims what is proved, if it is worth a word; what is not is said beside it, and is
// no finding.
func TestHeadlineClaimsWhatIsProved(t *testing.T) {
	for _, c := range []struct {
		imbalance, unproved float64
		begins, says        string
	}{
		{0.3, 0, "30.0 % of the time of 4 cores is lost to imbalance", "70.0 % is useful work."},
		{0.1, 0.4, "10.0 % of the time of 4 cores is lost to imbalance", "50.0 % is useful work, and 40.0 % is lost to differences"},
		{0.005, 0.2, "No loss is proved to be the program's: 79.5 % of the time", ", and 20.0 % is lost to differences"},
		{0, 0.2, "No loss is proved to be the program's: 80.0 % of the time", ", and 20.0 % is lost to differences"},
		{0, 0.005, "Next to nothing is lost: 99.5 %", ""},
		{0, 0, "Next to nothing is lost: 100.0 %", ""},
	} {
		place := []LossPlace{{Share: 1, Place: Place{File: "a.c", Line: 3}}}
		l := &Loss{LossShares: LossShares{Useful: 1 - c.imbalance - c.unproved, Unproved: c.unproved}, Cores: 4, CoreTime: 100,
			Terms: []LossTerm{{Name: analysis.TermImbalance, Share: c.imbalance, Time: 100 * c.imbalance, Places: place},
				{Name: analysis.TermUnproved, Share: c.unproved, Time: 100 * c.unproved, Places: place}}}
		if got := l.headline(); !strings.HasPrefix(got, c.begins) || !strings.Contains(got, c.says) {
			t.Errorf("%v proved, %v not: %s", c.imbalance, c.unproved, got)
		}
		for _, f := range findings(&Report{Loss: l}, "") {
			if f.rule == "loss/"+analysis.TermUnproved {
				t.Errorf("a finding: %+v", f)
			}
		}
	}
}
