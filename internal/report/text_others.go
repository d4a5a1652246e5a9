package report

// The sections that are not explained in full: a line each.

import (
	"fmt"

	"lime/internal/unit"
)

// otherLines is how many sections have a line; with more of them the rest is counted.
const otherLines = 20

// others gives every section that has not been explained a line with its answer.
func (p *printer) others(r *Report, full []int) {
	done := map[int]bool{}
	for _, i := range full {
		done[i] = true
	}
	if len(done) == len(r.Sections) {
		return
	}
	p.blank()
	title := "The other sections, a line each (--section N explains one)"
	if len(done) == 0 {
		title = "No imbalance here is worth a change; a line for each (--section N says more)"
	}
	p.line("%s", p.st.bold(title))
	left := otherLines
	for i := range r.Sections {
		if done[i] {
			continue
		}
		if left--; left < 0 {
			p.line("%s", p.st.dim(fmt.Sprintf("    and %d more (--all explains them)", len(r.Sections)-len(done)-otherLines)))
			return
		}
		s := &r.Sections[i]
		p.line("%3d %s %s", i+1, p.st.place(fit(cutPlace(clean(s.EndsAt.EndShort()), 20+p.extra/2), 20+p.extra/2)),
			cut(clean(s.inALine(&r.Program)), p.wide()-25-p.extra/2))
	}
}

// inALine is a section's answer in a line.
func (s *Section) inALine(g *Program) string {
	first := s.first()
	if first != nil && first.CostShare > 0 {
		return fmt.Sprintf("threads wait %s: %s at %s", unit.Percent(first.CostShare), first.Title, first.Short())
	}
	n := max(1, float64(s.Instances))
	switch {
	case s.TimeToWin == 0:
		return "all threads take the same time"
	case s.Balanced && g.TimeLabel != g.CountLabel:
		return "even, as far as samples tell"
	case s.Balanced:
		return fmt.Sprintf("even to %s of %s", g.Quantity(s.TimeToWin/n), g.Short(s.Time/n))
	}
	differ := fmt.Sprintf("imbalance %s: ", unit.Percent(s.Imbalance))
	switch {
	case s.doubted():
		return differ + "nothing proves it to be the program's"
	case s.Granule != nil && s.Granule.Lead <= 1:
		return differ + "less than one piece of work of " + s.Granule.Short()
	case first == nil:
		return differ + "nothing that was counted explains it"
	}
	if first.Place.unknown() {
		return differ + fmt.Sprintf("%s, %s", first.Title, shareWords(first))
	}
	return differ + fmt.Sprintf("%s at %s, %s", first.Title, first.Short(), shareWords(first))
}

// first is the section's first cause, of little weight if there is no other; nil if there is none.
func (s *Section) first() *Cause {
	switch {
	case len(s.Causes) > 0:
		return &s.Causes[0]
	case len(s.Minor) > 0:
		return &s.Minor[0]
	}
	return nil
}

// Only is the report with some of its sections; nil = all of them.
func (r *Report) Only(sections []int) *Report {
	if sections == nil {
		return r
	}
	some := *r
	some.Sections = []Section{}
	for _, i := range sections {
		some.Sections = append(some.Sections, r.Sections[i])
	}
	return &some
}
