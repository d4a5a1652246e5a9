package analysis

import (
	"slices"
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

// Who works longer than the others waits less often: what goes down as the times go up is no cause
// where an account, be it an estimate, knows one, and it leads where it is charged itself.
func TestWhatFollowsFromTheLossIsNoCause(t *testing.T) {
	tab := &profile.Tables{Files: []profile.File{{Path: "a.c"}}, Threads: []profile.Thread{{Name: "a"}, {Name: "b"}}}
	for _, test := range []struct {
		correlation, charged, other float64 // of the cause that the counts have; what the account puts on it and on another line
		first                       int32
	}{
		{-0.99, 0, 0.5, 10}, // waits in the others
		{0.99, 0, 0.5, 20},
		{-0.99, 0.5, 0.3, 20},  // the slow thread does not take a short cut, which costs
		{-0.99, 0, 0.05, 20},   // the account knows nothing better
		{-0.99, 0.01, 0.5, 10}, // next to nothing
	} {
		row := func(line int32, share float64) ledger.Row {
			at := ledger.Place{File: "a.c", Line: line, Node: profile.None}
			return ledger.Row{Kind: ledger.Branch, Place: at, Share: share, Cycles: 900 * share, Threads: []float64{0, 900 * share}}
		}
		sec := &Section{Ledger: &ledger.Account{Total: 900, Threads: []profile.ThreadID{0, 1}, Rows: []ledger.Row{row(10, test.other), row(20, test.charged)}}}
		r := &runner{meta: &profile.Meta{ClockUnit: "instructions"}, tab: tab, files: map[string]profile.FileID{"a.c": 0}}
		posts, order := r.postings(sec.Ledger)
		sec.Causes = []Cause{
			{Event: EventBranch, Score: 0.9, Important: true, Correlation: test.correlation, key: causeKey{lineKey: lineKey{file: 0, line: 20}}},
			{Event: EventBranch, Score: 0.2, Correlation: 0.8, key: causeKey{lineKey: lineKey{file: 0, line: 30}}},
		}
		r.rankEstimated(sec, posts, order)
		if len(sec.Causes) == 0 || sec.Causes[0].key.line != test.first {
			t.Errorf("%+v: %+v", test, sec.Causes)
		}
		if n := len(sec.Causes) + len(sec.Candidates); n > 3 || n < 2 {
			t.Errorf("%+v: %d causes and candidates", test, n)
		}
		if i := slices.IndexFunc(sec.Causes, func(c Cause) bool { return c.key.line == 30 }); i < 0 {
			t.Errorf("%+v: what leads behind it is gone: %+v", test, sec.Causes)
		}
	}
}
