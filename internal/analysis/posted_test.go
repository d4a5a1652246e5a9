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

// Where a thread's work is what differs, the account says so; the branch at the beginning of that
// work, to which no other thread comes, correlates as well as anything and is not what decides.
func TestGivenWorkIsNoBranch(t *testing.T) {
	tab := &profile.Tables{Files: []profile.File{{Path: "a.go"}}, Threads: []profile.Thread{{Name: "main.stage"}, {Name: "main.rank"}}}
	for _, kind := range []ledger.Kind{ledger.OtherStart, ledger.Entry, ledger.Chosen, ledger.Branch} {
		for _, event := range []string{EventBranch, EventLoop, EventJump, EventCall} {
			place := ledger.Place{File: "a.go", Line: 148, Node: profile.None}
			row := ledger.Row{Kind: kind, Place: place, Test: &place, Share: 1, Cycles: 900, Threads: []float64{0, 900}}
			sec := &Section{HasLedger: true, Ledger: &ledger.Account{Exact: true, Total: 900, Threads: []profile.ThreadID{0, 1}, Rows: []ledger.Row{row}}}
			r := &runner{meta: &profile.Meta{ClockUnit: "instructions"}, tab: tab, files: map[string]profile.FileID{"a.go": 0}}
			posts, order := r.postings(sec.Ledger)
			sec.Causes = []Cause{{Event: event, Title: controlTitles[event], Score: 0.9, key: order[0]}}
			r.rankExact(sec, posts, order)
			if len(sec.Causes) != 1 || sec.Causes[0].Score != 0.9 {
				t.Fatalf("%s, %s: %+v", kind, event, sec.Causes)
			}
			c := &sec.Causes[0]
			if kept := c.Title == controlTitles[event]; kept != (kind == ledger.Branch) {
				t.Errorf("%s, %s: %s: %s", kind, event, c.Title, c.Sentence)
			}
			if kind == ledger.OtherStart && !strings.Contains(c.Sentence, "Thread 1 (main.rank) was started with this function") {
				t.Error(c.Sentence)
			}
		}
	}
}
