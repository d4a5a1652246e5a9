package report

import (
	"strings"
	"testing"

	"lime/internal/analysis"
)

// Where threads wait for others' work because one has more to do, the headline says what that is;
// not where they wait for one another in turn, nor for a lock, and not what the account charges with
// nothing.
func TestHeadlineNamesWhatIsWaitedFor(t *testing.T) {
	loop := Cause{Title: "loop iterations", Family: analysis.FamilyControl, Place: Place{File: "a.c", Line: 7}}
	within := loop
	within.Line, within.ShareKind, within.Share = 8, "ledger", 0.0001
	queue := Cause{Title: "wait for others' work", Family: analysis.FamilyHardware, Place: Place{File: "a.c", Line: 30}}
	for _, row := range []struct {
		name, term string
		works      []float64
		want       bool
	}{
		{"one has most to do", analysis.TermWait, []float64{90, 20, 20, 20}, true},
		{"all have the same", analysis.TermWait, []float64{40, 40, 40, 40}, false},
		{"a lock", analysis.TermLock, []float64{90, 20, 20, 20}, false},
	} {
		s := Section{ID: 3, Causes: []Cause{queue, within, loop}}
		useful := 0.0
		for _, w := range row.works {
			s.Threads = append(s.Threads, ThreadTime{Time: 100, LockWait: 100 - w})
			useful += w / 400
		}
		s.Loss = LossShares{Useful: useful, Wait: 1 - useful}
		term := LossTerm{Name: row.term, Share: 1 - useful, Time: 400 * (1 - useful), Places: []LossPlace{{Place: queue.Place, Section: -1}}}
		l := &Loss{Cores: 4, CoreTime: 400, LossShares: s.Loss, Terms: []LossTerm{term}}
		l.Headline = l.headline()
		r := &Report{Loss: l, Sections: []Section{s}}
		r.nameCause()
		if got := strings.Contains(r.Loss.Headline, "They wait for those with more to do: loop iterations at a.c:7"); got != row.want {
			t.Errorf("%s: %s", row.name, r.Loss.Headline)
		}
	}
}

// Cores for which there was never a thread are told of, but do not stand in front of what the threads
// lost that there were.
func TestHeadlineOfUnusedCores(t *testing.T) {
	unused := LossPlace{Why: analysis.NeverUsed, Cores: 4, Share: 0.5}
	alone := LossPlace{Place: Place{File: "a.c", Line: 9}, Share: 0.1}
	lock := LossTerm{Name: analysis.TermLock, Share: 0.2, Time: 20, Places: []LossPlace{{Place: Place{File: "a.c", Line: 5}, Share: 0.2}}}
	const never = "For 4 of the 8 cores there was never a thread (50.0 % of the time). "
	for _, c := range []struct {
		name   string
		useful float64
		terms  []LossTerm
		want   string
	}{
		{"a lock", 0.3, []LossTerm{{Name: analysis.TermSerial, Share: 0.5, Time: 50, Places: []LossPlace{unused}}, lock},
			"20.0 % of the time of 8 cores is spent waiting for locks, at a.c:5. " + never + "30.0 % is useful work."},
		{"less than another term", 0.2, []LossTerm{{Name: analysis.TermSerial, Share: 0.6, Time: 60, Places: []LossPlace{unused, alone}}, lock},
			"20.0 % of the time of 8 cores is spent waiting for locks, at a.c:5. " + never + "20.0 % is useful work."},
		{"too few besides", 0.4, []LossTerm{{Name: analysis.TermSerial, Share: 0.6, Time: 60, Places: []LossPlace{unused, alone}}},
			"10.0 % of the time of 8 cores is lost because too few threads are at work, at a.c:9. " + never + "40.0 % is useful work."},
		{"nothing else", 0.5, []LossTerm{{Name: analysis.TermSerial, Share: 0.5, Time: 50, Places: []LossPlace{unused}}}, never + "50.0 % is useful work."},
	} {
		l := &Loss{Cores: 8, CoreTime: 100, LossShares: LossShares{Useful: c.useful}, Terms: c.terms}
		if got := l.headline(); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

// What makes one section's threads uneven is not what those of another one wait for.
func TestHeadlineNamesNoOtherSectionsCause(t *testing.T) {
	loop := Cause{Title: "loop iterations", Family: analysis.FamilyControl, Place: Place{File: "a.c", Line: 7}}
	wait := Cause{Title: "wait for another thread", Family: analysis.FamilyHardware, Place: Place{File: "a.c", Line: 30}}
	for _, row := range []struct {
		here, there []Cause
		want        bool
	}{{[]Cause{wait, loop}, nil, true}, {[]Cause{wait}, []Cause{loop}, false}} {
		waits := Section{ID: 3, Causes: row.here, Loss: LossShares{Useful: 0.2, Wait: 0.6}}
		other := Section{ID: 4, Causes: row.there, Loss: LossShares{Imbalance: 0.1, Wait: 0.1}}
		for _, work := range []float64{80, 10, 10, 10} {
			waits.Threads = append(waits.Threads, ThreadTime{Time: 80, LockWait: 80 - work})
			other.Threads = append(other.Threads, ThreadTime{Time: work / 4})
		}
		term := LossTerm{Name: analysis.TermWait, Share: 0.7, Time: 280, Places: []LossPlace{{Place: wait.Place, Section: -1}}}
		l := &Loss{Cores: 4, CoreTime: 400, LossShares: LossShares{Useful: 0.2, Imbalance: 0.1, Wait: 0.7}, Terms: []LossTerm{term}}
		l.Headline = l.headline()
		r := &Report{Loss: l, Sections: []Section{waits, other}}
		r.nameCause()
		if got := strings.Contains(r.Loss.Headline, "They wait for"); got != row.want {
			t.Errorf("%v: %s", row.want, r.Loss.Headline)
		}
	}
}

// A wait that costs much, and by which nothing is to be won, is no "up to 491 instructions".
func TestWhatIsToWinByWaitingLess(t *testing.T) {
	for _, row := range []struct {
		cost, win float64
		want      string
	}{{0.77, 0, "nothing by waiting less here"}, {0.77, 0.3, "if nobody had to wait here"}, {0, 0.3, "if it were even"}, {0, 0, "if it were even"}} {
		if got := toWin(&Report{}, &Cause{CostShare: row.cost, WinShare: row.win}); !strings.Contains(got, row.want) {
			t.Errorf("cost %v, win %v: %s", row.cost, row.win, got)
		}
	}
}
