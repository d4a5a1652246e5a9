package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"

	"lime/internal/profile"
	"lime/internal/unit"
)

// WriteDiffJSON writes the comparison as JSON.
func WriteDiffJSON(w io.Writer, d *Diff) error {
	finite(reflect.ValueOf(d))
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(d)
}

// WriteDiffText writes the comparison for a terminal.
func WriteDiffText(w io.Writer, d *Diff, o TextOptions) error {
	p := newPrinter(w, o)
	p.item(0, "before  ", d.A.CommandLine()+d.meanOf(0))
	p.item(0, "after   ", d.B.CommandLine()+d.meanOf(1))
	for _, warning := range d.Warnings {
		p.item(0, "Caution: ", warning)
	}
	p.blank()
	p.diffHead("")
	for i := range d.Whole {
		p.figureDiff(&d.Whole[i])
	}
	if d.Loss != nil {
		p.lossDiff(d.Loss, o)
	}
	told := 0
	for i := range d.Sections {
		if s := &d.Sections[i]; o.All || s.worthTelling() {
			p.sectionDiff(s, d.amounts(), o)
			told++
		}
	}
	p.untold(len(d.Sections)-told, told)
	return p.done()
}

// meanOf says that a side's figures are means.
func (d *Diff) meanOf(side int) string {
	if d.Runs[side] < 2 {
		return ""
	}
	return fmt.Sprintf("  (means of %d runs)", d.Runs[side])
}

// diffHead is the line above columns of figures.
func (p *printer) diffHead(title string) {
	p.line("%s%s", p.st.bold(fit(title, 40+p.extra)), p.st.dim("  before     after    change"))
}

// amounts prints what is lost, in the unit of the comparison.
func (d *Diff) amounts() func(float64) string {
	switch {
	case d.A.ClockUnit != d.B.ClockUnit:
		return unit.Percent
	case d.B.ClockUnit == "ns":
		return func(x float64) string { return unit.Nanos(x).String() }
	}
	return unit.SI
}

// lossDiff prints what core time went into, and the places that changed.
func (p *printer) lossDiff(d *LossDiff, o TextOptions) {
	amount := (&Diff{A: Program{ClockUnit: d.Unit}, B: Program{ClockUnit: d.Unit}}).amounts()
	if d.Unit == "share" {
		amount = unit.Percent
	}
	p.blank()
	p.diffHead("Core time, in " + strings.Replace(d.Unit, "share", "shares", 1))
	p.amountDiff("all of it", compared([]float64{d.Before}, []float64{d.After}, 0, d.Before), amount, "")
	for i := range d.Terms {
		t := &d.Terms[i]
		if !o.All && t.Before < leastShown*d.Before && t.After < leastShown*d.Before {
			continue
		}
		won := ""
		if t.Word != ChangeSame && math.Abs(t.WonShare) >= leastShown {
			won = fmt.Sprintf("%.1f %% of what was saved", 100*t.WonShare)
		}
		p.amountDiff("  "+t.Title, t.Change, amount, won)
		for k := range t.Places {
			c := &t.Places[k]
			p.amountDiff("    "+clean(c.Place.String()), c.Change, amount, wasWords(c.Was))
		}
	}
}

// wasWords says where a line was before.
func wasWords(was *Place) string {
	if was == nil {
		return ""
	}
	return "was " + was.Short()
}

// amountDiff prints an amount of time before and after, and a remark below it.
func (p *printer) amountDiff(label string, c Change, amount func(float64) string, remark string) {
	before, after, delta := amount(c.Before), amount(c.After), amount(c.Delta())
	if c.Delta() > 0 {
		delta = "+" + delta
	}
	switch c.Word {
	case ChangeNew:
		before = "-"
	case ChangeGone:
		after = "-"
	}
	noise := ""
	if c.Noise > 0 && c.Noise > 0.0005*max(c.Before, c.After) {
		noise = p.st.dim(" ±" + amount(c.Noise))
	}
	p.line("%s%s%s%s  %s%s", fit(cutPlace(label, 38+p.extra), 39+p.extra), right(before, 9), right(after, 10),
		right(delta, 10), p.st.word(c.Word), noise)
	if remark != "" {
		p.line("%s", p.st.dim("      "+clean(remark)))
	}
}

func (p *printer) untold(n, told int) {
	if n == 0 {
		return
	}
	p.blank()
	if told == 0 {
		p.line("No section changed.")
		return
	}
	p.line("%s", p.st.dim(countOf(n, "section")+" with no change to speak of (--all shows all)."))
}

func (s *SectionDiff) worthTelling() bool {
	for _, c := range s.Causes {
		if c.Word != ChangeSame {
			return true
		}
	}
	return s.Word != ChangeSame && (s.Imbalance.Before >= 0.01 || s.Imbalance.After >= 0.01)
}

// word paints a change.
func (st style) word(word string) string {
	switch word {
	case ChangeBetter, ChangeGone:
		return st.good(word)
	case ChangeWorse, ChangeNew:
		return st.loud(word)
	case ChangeSame:
		word = "unchanged"
	}
	return st.dim(word)
}

func (p *printer) figureDiff(f *FigureDiff) {
	if f.Unit == "share" {
		p.shareDiff(f.Title, f.Change)
		return
	}
	amount := (&Diff{A: Program{ClockUnit: f.Unit}, B: Program{ClockUnit: f.Unit}}).amounts()
	noise, title := "", f.Title
	if f.Unit != "ns" {
		title += ", " + f.Unit
	}
	if f.Noise > 0 {
		noise = p.st.dim(" ±" + amount(f.Noise))
	}
	p.line("%s%s%s%s  %s%s", fit(title, 39+p.extra), right(amount(f.Before), 9), right(amount(f.After), 10),
		right(fmt.Sprintf("%+.1f %%", 100*ratio(f.Delta(), f.Before)), 10), p.st.word(f.Word), noise)
}

// points prints a change of a share in percentage points.
func points(x float64) string { return fmt.Sprintf("%+.1f pp", 100*x) }

func (p *printer) sectionDiff(s *SectionDiff, amount func(float64) string, o TextOptions) {
	p.blank()
	p.line("%s %s", p.st.place(p.st.bold(cutPlace(clean(s.EndsAt.End()), p.wide()-10))), p.st.word(s.Word))
	if s.Was != nil {
		p.line("  %s", p.st.dim(cutPlace("was "+clean(s.Was.String()), p.wide()-4)))
	}
	p.amountDiff("  lost in all", s.Lost, amount, "")
	p.shareDiff("  imbalance", s.Imbalance)
	for i := range s.Causes {
		if c := &s.Causes[i]; o.All || c.Word != ChangeSame {
			p.amountDiff(fmt.Sprintf("  %s at %s", profile.KindTitle(c.Event), clean(c.Short())), c.Loss, amount, "")
		}
	}
}

// shareDiff prints a share before and after.
func (p *printer) shareDiff(label string, c Change) {
	before, after := unit.Percent(c.Before), unit.Percent(c.After)
	switch c.Word {
	case ChangeNew:
		before = "-"
	case ChangeGone:
		after = "-"
	}
	noise := ""
	if c.Noise > 0.0005 {
		noise = p.st.dim(fmt.Sprintf(" ±%.1f", 100*c.Noise))
	}
	p.line("%s%s%s%s  %s%s", fit(label, 39+p.extra), right(before, 9), right(after, 10), right(points(c.Delta()), 10),
		p.st.word(c.Word), noise)
}
