package report

import (
	"fmt"
	"io"

	"lime/internal/unit"
	"lime/internal/whatif"
)

// Throws prints what several placements of a program's pages come to, and which of its hardware
// causes are there in all of them.
func Throws(w io.Writer, t *whatif.Throws, all bool) error {
	p := &linePrinter{w: w}
	short := (&Program{ClockUnit: t.ClockUnit}).Short
	p.print("%d placements of the program's pages in memory (seeds %d to %d; this profile: %d)", len(t.Seeds),
		t.Seeds[0], t.Seeds[len(t.Seeds)-1], t.Seeds[0])
	p.print("%s", "")
	wide := tableColumn
	for i := range t.Sections {
		wide = max(wide, columns(placeText(&t.Sections[i].EndsAt)))
	}
	p.print("%-*s %10s %10s %10s %10s", wide, "imbalance of the section", "profile", "least", "median", "most")
	shown := 0
	for i := range t.Sections {
		s := &t.Sections[i]
		if !all && !s.Matters {
			continue
		}
		shown++
		p.print("%-*s %10s %10s %10s %10s", wide, placeText(&s.EndsAt), unit.Percent(s.Imbalance.Own),
			unit.Percent(s.Imbalance.Least), unit.Percent(s.Imbalance.Median), unit.Percent(s.Imbalance.Most))
	}
	if shown == 0 {
		p.print("%s", "no section loses much time (--all shows them)")
	}
	r := &t.RunTime
	p.print("%-*s %10s %10s %10s %10s", wide, "whole run, "+t.ClockUnit, short(r.Own), short(r.Least), short(r.Median), short(r.Most))
	for i := range t.Sections {
		if s := &t.Sections[i]; s.Cause != nil && (all || s.Matters) {
			p.print("%s", "")
			for _, line := range wrap(thrownCause(s, len(t.Seeds), short), 80) {
				p.print("%s", line)
			}
		}
	}
	return p.err
}

// thrownCause says whether a section's first hardware cause is the program's or luck.
func thrownCause(s *whatif.ThrownSection, runs int, short func(float64) string) string {
	c := s.Cause
	what := fmt.Sprintf("%s: %s at %s", placeText(&s.EndsAt), c.Title, placeText(&c.Place))
	charged := fmt.Sprintf("The account charges it with %s here, with %s to %s over all of them, median %s; the "+
		"thread that works longest is the same in %d.",
		short(c.Time.Own), short(c.Time.Least), short(c.Time.Most), short(c.Time.Median), s.Last)
	switch {
	case c.Time.Own <= 0:
		return what + " has no part in the account that could be compared."
	case c.There == runs:
		return fmt.Sprintf("%s is the program's: it is there in all %d placements. %s", what, runs, charged)
	}
	return fmt.Sprintf("%s differs with the placement of pages: it is there in %d of %d. %s", what, c.There, runs, charged)
}
