// The account of the whole loss on the page.

package report

import (
	"fmt"

	"lime/internal/analysis"
)

// pageLoss is the table of the terms: useful work, and what loses something, the most first.
type pageLoss struct {
	Title string
	Rows  []pageTerm
}

type pageTerm struct {
	Title  string
	Share  float64
	Places []pagePlace
}

type pagePlace struct {
	At    string
	Share float64
	About string
}

// Limits of the table.
const pageLossPlaces = 5 // of a term

// lossTitle heads the account.
func lossTitle(r *Report) string {
	return fmt.Sprintf("What became of %s x %s", countOf(r.Loss.Cores, "core"), r.Program.Quantity(r.Program.RunTime))
}

// shownTerms are the terms that are worth a row: useful work, and what loses something, the most
// first.
func (l *Loss) shownTerms() []*LossTerm {
	var out []*LossTerm
	for i := range l.Terms {
		if l.Terms[i].Name == analysis.TermUseful {
			out = append(out, &l.Terms[i])
		}
	}
	for _, t := range l.ranked() {
		if t.Share >= leastShown {
			out = append(out, t)
		}
	}
	return out
}

func newPageLoss(r *Report) *pageLoss {
	if r.Loss == nil || r.Loss.CoreTime == 0 {
		return nil
	}
	out := &pageLoss{Title: lossTitle(r)}
	for _, t := range r.Loss.shownTerms() {
		row := pageTerm{Title: t.Title, Share: t.Share}
		for i := range t.Places[:min(len(t.Places), pageLossPlaces)] {
			if p := &t.Places[i]; p.Share >= leastShown {
				row.Places = append(row.Places, pagePlace{p.at(), p.told(), p.about(t.Name)})
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
