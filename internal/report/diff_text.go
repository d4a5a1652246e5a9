package report

import (
	"encoding/json"
	"fmt"
	"io"
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
	p := newPrinter(w, o.Color)
	p.item(0, "before  ", d.A.CommandLine())
	p.item(0, "after   ", d.B.CommandLine())
	for _, warning := range d.Warnings {
		p.item(0, "Caution: ", warning)
	}
	p.blank()
	p.line("%s%s", fit("", 40), p.st.dim("  before     after    change"))
	for i := range d.Whole {
		p.figureDiff(&d.Whole[i])
	}
	told := 0
	for i := range d.Sections {
		if s := &d.Sections[i]; o.All || s.worthTelling() {
			p.sectionDiff(s, o)
			told++
		}
	}
	p.untold(len(d.Sections)-told, told)
	return p.done()
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
	}
	return st.dim(word)
}

func (p *printer) figureDiff(f *FigureDiff) {
	before, after, delta := unit.Percent(f.Before), unit.Percent(f.After), points(f.Delta())
	if f.Unit != "share" {
		before, after, delta = unit.SI(f.Before), unit.SI(f.After), fmt.Sprintf("%+.1f %%", 100*ratio(f.Delta(), f.Before))
	}
	p.line("%s%s%s%s  %s", fit(f.Title, 39), right(before, 9), right(after, 10), right(delta, 10), p.st.word(f.Word))
}

// points prints a change of a share in percentage points.
func points(x float64) string { return fmt.Sprintf("%+.1f pp", 100*x) }

func (p *printer) sectionDiff(s *SectionDiff, o TextOptions) {
	p.blank()
	p.line("%s %s", p.st.place(p.st.bold(cutPlace(clean(s.EndsAt.End()), Width-10))), p.st.word(s.Word))
	if s.Was != nil {
		p.line("  %s", p.st.dim(cutPlace("was "+clean(s.Was.String()), Width-4)))
	}
	p.shareDiff("  imbalance", s.Imbalance)
	p.shareDiff("  lost of the run", s.LostShare)
	for i := range s.Causes {
		if c := &s.Causes[i]; o.All || c.Word != ChangeSame {
			p.shareDiff(fmt.Sprintf("  %s at %s", profile.KindTitle(c.Event), clean(c.Short())), c.Loss)
		}
	}
}

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
		noise = p.st.dim(strings.TrimPrefix(fmt.Sprintf(" ±%.1f", 100*c.Noise), ""))
	}
	p.line("%s%s%s%s  %s%s", fit(label, 39), right(before, 9), right(after, 10), right(points(c.Delta()), 10), p.st.word(c.Word), noise)
}
