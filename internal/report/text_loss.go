// The account of the whole loss in the text report.

package report

import (
	"fmt"
	"strings"

	"lime/internal/analysis"
	"lime/internal/unit"
)

// figures are the run's, in two columns.
func figures(r *Report) (left, right [][2]string) {
	g := &r.Program
	left = [][2]string{{"Run time", g.Quantity(g.RunTime)}, {"Threads", fmt.Sprintf("%d, %d at a time", g.Threads, r.Whole.Width)}}
	right = [][2]string{{"Parallel efficiency", unit.Percent(r.Whole.ParallelEfficiency)}, {"Load balance", unit.Percent(r.Whole.LoadBalance)}}
	if l := r.Loss; l != nil {
		left = append(left, [2]string{"Serialisation", unit.Percent(l.Efficiency.Serialisation)})
		right = append(right, [2]string{"Transfer", unit.Percent(l.Efficiency.Transfer)})
	}
	return left, right
}

// lossBar is the width of the bars of the account.
const lossBar = 14

// loss prints the terms, useful work first, and the place that has most of each.
func (p *printer) loss(r *Report) {
	l := r.Loss
	if l == nil || l.CoreTime == 0 {
		return
	}
	p.blank()
	p.line("%s", p.st.bold(lossTitle(r)))
	for _, t := range l.shownTerms() {
		if t.Name == analysis.TermUseful {
			p.lossRow(t, p.st.good)
		} else {
			p.lossRow(t, p.st.loud)
		}
	}
}

// leastShown is the share that would read 0.0 %.
const leastShown = 0.0005

func (p *printer) lossRow(t *LossTerm, paint func(string) string) {
	b, w := bar(t.Share, lossBar)
	at := ""
	if len(t.Places) > 0 && t.Name != analysis.TermUseful {
		at = t.Places[0].at()
		if told := t.Places[0].told(); ratio(told, t.Share) <= 0.995 {
			at = unit.Percent(told) + " " + at
		}
	}
	lead := fmt.Sprintf("  %s  %s %s", right(unit.Percent(t.Share), 7), fit(t.Title, 24), strings.Repeat(" ", lossBar+1))
	p.line("  %s  %s %s%s %s", right(unit.Percent(t.Share), 7), fit(t.Title, 24), paint(b), strings.Repeat(" ", lossBar-w),
		p.st.place(cutPlace(clean(at), max(10, p.wide()-columns(lead)))))
}
