package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"lime/internal/analysis"
	"lime/internal/unit"
	"lime/internal/whatif"
)

// WhatIf prints a comparison of two runs as text.
func WhatIf(w io.Writer, c *whatif.Comparison, all bool) error {
	p := &linePrinter{w: w}
	short := (&Program{ClockUnit: c.ClockUnit}).Short
	p.print("What if: %s", strings.Join(c.Change, ", "))
	if c.Estimate {
		p.print("%s", "(computed from the account of the run, to first order; not run)")
	}
	if c.Why != "" {
		p.print("Not run: %s.", c.Why)
	}
	p.print("%s", "")
	wide := tableColumn
	for i := range c.Sections {
		wide = max(wide, columns(whatIfPlace(&c.Sections[i])))
	}
	p.print("%-*s %21s %21s", wide, "", "imbalance", "time")
	p.print("%-*s %10s %10s %10s %10s", wide, "section", "before", "after", "before", "after")
	shown := 0
	for i := range c.Sections {
		s := &c.Sections[i]
		if !all && s.LostBefore+s.LostAfter == 0 {
			continue
		}
		shown++
		p.print("%-*s %10s %10s %10s %10s", wide, whatIfPlace(s), unit.Percent(s.ImbalanceBefore), after(s, unit.Percent(s.ImbalanceAfter)),
			short(s.TimeBefore), after(s, short(s.TimeAfter)))
	}
	if shown == 0 {
		p.print("%s", "no section lost any time")
	}
	if c.LockBefore+c.LockAfter > 0 {
		p.print("%-*s %10s %10s %10s %10s", wide, "waiting for locks, of core time", "", "", short(c.LockBefore), short(c.LockAfter))
	}
	p.print("%-*s %10s %10s %10s %10s", wide, "whole run, "+c.ClockUnit, "", "", short(c.RunTimeBefore), short(c.RunTimeAfter))
	p.said(c)
	p.won(c)
	for i := range c.Sections {
		if s := &c.Sections[i]; i == 0 && s.LostBefore > 0 && !s.Gone && c.LockBefore <= s.LostBefore {
			p.print("%s", "")
			p.print("%s", accounted(s))
		}
	}
	return p.err
}

// said prints what the account had said beside what the run shows.
func (p *linePrinter) said(c *whatif.Comparison) {
	short := (&Program{ClockUnit: c.ClockUnit}).Short
	first := true
	for i := range c.Sections {
		s := &c.Sections[i]
		if s.Said == nil || s.LostBefore == 0 {
			continue
		}
		if first {
			p.print("%s", "")
		}
		first = false
		p.print("%s: the account had said an imbalance of %s and a time of %s; gone is %s of the time lost, said was %s.", whatIfPlace(s),
			unit.Percent(s.Said.Imbalance), short(s.Said.Time), unit.Percent(s.Accounted), unit.Percent(s.Said.Accounted))
	}
	if c.Missed > whatif.Missed {
		p.print("%s of what was to be evened out could not be: it is known too late when parts begin (pools, barriers "+
			"that the program builds itself).", unit.Percent(c.Missed))
	}
}

// won says what the change wins in all, where locks are what is waited for.
func (p *linePrinter) won(c *whatif.Comparison) {
	if c.LockBefore == 0 || c.RunTimeBefore == 0 || c.Estimate {
		return
	}
	p.print("%s", "")
	words := "shorter"
	x := 1 - c.RunTimeAfter/c.RunTimeBefore
	if x < 0 {
		words, x = "longer", -x
	}
	p.print("The run is %s %s with this change.", unit.Percent(x), words)
}

func after(s *whatif.Section, text string) string {
	if s.Gone {
		return "gone"
	}
	return text
}

func whatIfPlace(s *whatif.Section) string { return placeText(&s.EndsAt) }

func placeText(e *analysis.Place) string {
	if e.Line == 0 {
		return e.Function + " " + e.Address
	}
	return fmt.Sprintf("%s:%d %s", filepath.Base(e.File), e.Line, e.Function)
}

// accounted says how much of a section's loss the change took away.
func accounted(s *whatif.Section) string {
	if s.Accounted < 0 {
		return fmt.Sprintf("%s lost %s more time in waiting with the change.", whatIfPlace(s), unit.Percent(-s.Accounted))
	}
	return fmt.Sprintf("This accounted for %s of the time that %s lost in waiting.", unit.Percent(s.Accounted), whatIfPlace(s))
}

// linePrinter prints lines and keeps the first error.
// tableColumn is how wide the first column of a table is, at least: its longest place makes it wider.
const tableColumn = 36

type linePrinter struct {
	w   io.Writer
	err error
}

func (p *linePrinter) print(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, strings.TrimRight(clean(fmt.Sprintf(format, args...)), " "))
	}
}
