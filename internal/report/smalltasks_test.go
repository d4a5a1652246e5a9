package report

import (
	"strings"
	"testing"

	"lime/internal/analysis"
)

// Where most is lost to the making of tasks, or to waiting for them, and they are too small, the first
// sentence says so with their number, their size and what they cost; not where they are large enough,
// where another section has the loss, nor where it is another loss.
func TestHeadlineSaysThatTasksAreTooSmall(t *testing.T) {
	const small = "The tasks are too small: 2 k of them, on average 50 instructions each, and 80.0 % of that goes into making and " +
		"handing them out; those with the most work begin at a.c:8 in fib. 20.0 % is useful work."
	for _, row := range []struct {
		name, term, advice string
		work               float64 // of the threads in the section, of the core time
		wait               float64
		want               string
	}{
		{"overhead", analysis.TermOverhead, analysis.AdviceCoarsen, 0.5, 0, small},
		{"overhead, and few at a time", analysis.TermOverhead, analysis.AdviceChange, 0.5, 0,
			strings.Replace(small, "small:", "small, and too few at a time:", 1)},
		{"waiting", analysis.TermWait, analysis.AdviceCoarsen, 0.1, 0.5, small},
		{"waiting elsewhere", analysis.TermWait, analysis.AdviceCoarsen, 0.5, 0.1, ""},
		{"large enough", analysis.TermOverhead, analysis.AdviceRefine, 0.5, 0, ""},
		{"effective", analysis.TermOverhead, analysis.AdviceEffective, 0.5, 0, ""},
		{"overhead of something else", analysis.TermOverhead, analysis.AdviceCoarsen, 0.2, 0, ""},
		{"imbalance", analysis.TermImbalance, analysis.AdviceCoarsen, 0.5, 0.5, ""},
		{"locks", analysis.TermLock, analysis.AdviceCoarsen, 0.5, 0.5, ""},
	} {
		end := LossPlace{Place: Place{File: "a.c", Line: 16}, Section: 3, Share: 0.5, Time: 200}
		l := &Loss{Cores: 4, CoreTime: 400, LossShares: LossShares{Useful: 0.2},
			Terms: []LossTerm{{Name: row.term, Share: 0.5, Time: 200, Places: []LossPlace{end}}}}
		l.Headline = l.headline()
		want := l.Headline
		if row.want != "" {
			want = strings.Replace(want, "20.0 % is useful work.", row.want, 1)
		}
		r := &Report{Loss: l, Program: Program{ClockUnit: "instructions"}, Sections: []Section{{ID: 2}, {ID: 3,
			Loss:    LossShares{Wait: row.wait},
			Threads: []ThreadTime{{Time: 300 * row.work}, {Time: 100 * row.work}},
			Tasks: &Tasks{Place: Place{File: "a.c", Line: 8, Function: "fib"}, Count: 2000, Mean: 50, RuntimeShare: 0.8,
				Advice: row.advice}}}}
		r.nameCause()
		if got := r.Loss.Headline; got != want {
			t.Errorf("%s: %s\nwant %s", row.name, got, want)
		}
	}
}
