package report

import (
	"strings"
	"testing"

	"lime/internal/analysis"
)

// Where threads wait for others' work because one has more to do, the headline says what that is;
// not where they wait for one another in turn, nor for a lock.
func TestHeadlineNamesWhatIsWaitedFor(t *testing.T) {
	loop := Cause{Title: "loop iterations", Family: analysis.FamilyControl, Place: Place{File: "a.c", Line: 7}}
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
		s := Section{ID: 3, Causes: []Cause{queue, loop}}
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
		if got := strings.Contains(r.Loss.Headline, "They wait for loop iterations at a.c:7"); got != row.want {
			t.Errorf("%s: %s", row.name, r.Loss.Headline)
		}
	}
}
