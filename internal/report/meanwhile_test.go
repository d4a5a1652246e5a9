package report

import (
	"strings"
	"testing"

	"lime/internal/analysis"
)

// idleAt is a report of a run that loses most at the end of a section, a share of all that is lost,
// with what samples say of what ran meanwhile.
func idleAt(term string, part float64, idle ...Charge) *Report {
	end := LossPlace{Place: Place{File: "a.c", Line: 30, Function: "main"}, Section: 3, Share: 0.6 * part, Time: 240 * part}
	l := &Loss{Cores: 4, CoreTime: 400, LossShares: LossShares{Useful: 0.4},
		Terms: []LossTerm{{Name: term, Share: 0.6, Time: 240, Places: []LossPlace{end}}}}
	l.Headline = l.headline()
	return &Report{Loss: l, Sections: []Section{{ID: 3}}, Effort: &Effort{Idle: idle}}
}

// Where nothing is known of why threads wait at a section's end, the first sentence says what ran
// meanwhile: if samples prove that it ran for most of that time, and not what is a cause, a place that
// is known better, or what a lock's waiters wait for.
func TestHeadlineSaysWhatRanMeanwhile(t *testing.T) {
	at := Place{File: "a.c", Line: 7, Function: "work"}
	ran := func(share, least float64) Charge { return Charge{Place: at, Share: share, Least: least} }
	loop := ran(0.8, 0.7)
	loop.Loop = true
	const said = "Meanwhile, by 80.0 % of the samples, ran the code at a.c:7 in work. 40.0 % is useful work."
	for _, row := range []struct {
		name string
		r    *Report
		want string // "": nothing
	}{
		{"at a barrier", idleAt(analysis.TermImbalance, 1, ran(0.8, 0.7)), said},
		{"for others' work", idleAt(analysis.TermWait, 1, ran(0.8, 0.7)), said},
		{"too few threads", idleAt(analysis.TermSerial, 1, ran(0.8, 0.7)), said},
		{"a loop", idleAt(analysis.TermImbalance, 1, loop), strings.Replace(said, "the code", "the loop", 1)},
		{"too few samples", idleAt(analysis.TermImbalance, 1, ran(0.8, 0.45)), ""},
		{"no majority", idleAt(analysis.TermImbalance, 1, ran(0.4, 0.39)), ""},
		{"perhaps in another section", idleAt(analysis.TermImbalance, 0.5, ran(0.8, 0.7)), ""},
		{"in this section even so", idleAt(analysis.TermImbalance, 0.8, ran(0.8, 0.7)), said},
		{"a lock", idleAt(analysis.TermLock, 1, ran(0.8, 0.7)), ""},
		{"what is not known", idleAt(analysis.TermImbalance, 1, Charge{Share: 0.8, Least: 0.7}), ""},
		{"nothing", idleAt(analysis.TermImbalance, 1), ""},
		{"a cause", withCause(idleAt(analysis.TermImbalance, 1, ran(0.8, 0.7))), "The first cause: branch at a.c:8. 40.0 % is useful work."},
	} {
		plain := row.r.Loss.Headline
		row.r.nameCause()
		want := plain
		if row.want != "" {
			want = strings.Replace(plain, "40.0 % is useful work.", row.want, 1)
		}
		if got := row.r.Loss.Headline; got != want {
			t.Errorf("%s: %s\nwant %s", row.name, got, want)
		}
	}
}

func withCause(r *Report) *Report {
	r.Sections[0].Causes = []Cause{{Title: "branch", Place: Place{File: "a.c", Line: 8}}}
	return r
}
