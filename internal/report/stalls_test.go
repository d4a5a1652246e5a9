package report

import (
	"strings"
	"testing"

	"lime/internal/analysis"
)

// TestStallsAreToldApart: a mispredicted branch is not waiting for memory, and the first sentence
// says which of the two it is.
func TestStallsAreToldApart(t *testing.T) {
	for _, c := range []struct {
		mispredicted, memory float64
		want                 string
	}{
		{0, 0.4, "40.0 % of the time of 4 cores is spent waiting for memory"},
		{0.4, 0, "40.0 % of the time of 4 cores is lost to mispredicted branches"},
		{0.3, 0.1, "40.0 % of the time of 4 cores is lost to stalls of the core (30.0 % mispredicted branches, 10.0 % memory)"},
	} {
		l := newLoss(&analysis.Loss{Cores: 4, CoreTime: 100, Terms: []analysis.LossTerm{
			{Name: analysis.TermUseful, Share: 0.6, Time: 60},
			{Name: analysis.TermMemory, Share: 0.4, Time: 40, Places: []analysis.LossPlace{
				{Event: "branch-miss", Share: c.mispredicted, Time: 100 * c.mispredicted},
				{Event: "llc-miss", Share: c.memory, Time: 100 * c.memory}}}}})
		if !strings.HasPrefix(l.Headline, c.want) {
			t.Errorf("%q, want %q", l.Headline, c.want)
		}
	}
}
