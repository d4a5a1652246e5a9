package analysis

import (
	"strings"
	"testing"

	"lime/internal/ledger"
	"lime/internal/profile"
)

// A function's name is no format.
func TestNamesWithPercentSigns(t *testing.T) {
	r := &runner{meta: &profile.Meta{ClockUnit: "instructions"}}
	row := &ledger.Row{Inside: &ledger.Place{Function: "Mod::operator%(int)"}, Threads: []float64{0, 500}}
	sec := &Section{Ledger: &ledger.Account{Threads: []profile.ThreadID{3, 4}}}
	got := r.priceSentence(sec, &posting{rows: []*ledger.Row{row}})
	if strings.Contains(got, "%!") || !strings.Contains(got, "Thread 4 ") || !strings.HasSuffix(got, "most in Mod::operator%(int).") {
		t.Error(got)
	}
}
