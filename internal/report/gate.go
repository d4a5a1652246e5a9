package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lime/internal/unit"
)

// Gate is a limit that a comparison may not pass: imbalance>+5% (a change in
// percentage points; of the run time in percent) or imbalance>30% (the figure
// after). Imbalance and lost-of-section gates hold for every section.
type Gate struct {
	Text   string
	Figure string
	Less   bool // "<" and not ">"
	Change bool // the limit is on the change
	Limit  float64
}

// gateFigures lists what a gate may be set on.
func gateFigures() []string {
	return []string{"imbalance", "lost", "runtime", "efficiency", "balance", "serial", "lock", "wait", "off_core",
		"overhead", "memory", "unproved", "causes"}
}

var gateForm = regexp.MustCompile(`^\s*([a-z_]+)\s*([<>])\s*([+-]?)([0-9]+(?:\.[0-9]+)?)\s*(%?)\s*$`)

// ParseGate reads a gate.
func ParseGate(text string) (Gate, error) {
	m := gateForm.FindStringSubmatch(text)
	if m == nil {
		return Gate{}, fmt.Errorf("limit %q: must look like 'imbalance>+5%%' (grew by more than 5 points) or 'lost>20%%'", text)
	}
	if !slices.Contains(gateFigures(), m[1]) {
		return Gate{}, fmt.Errorf("limit %q: no figure %q; there are %s", text, m[1], strings.Join(gateFigures(), ", "))
	}
	limit, err := strconv.ParseFloat(m[4], 64)
	if err != nil || math.IsInf(limit, 0) {
		return Gate{}, fmt.Errorf("limit %q: %q is no number", text, m[4])
	}
	if m[3] == "-" {
		limit = -limit
	}
	if m[5] == "%" || m[1] != "causes" {
		limit /= 100
	}
	g := Gate{Text: strings.TrimSpace(text), Figure: m[1], Less: m[2] == "<", Change: m[3] != "", Limit: limit}
	if g.Figure == "runtime" && !g.Change {
		return Gate{}, fmt.Errorf("limit %q: the run time is limited by its change, as in 'runtime>+5%%'", text)
	}
	return g, nil
}

// Check returns what in d passes the limit, in words.
func (g Gate) Check(d *Diff) []string {
	switch g.Figure {
	case "imbalance":
		return g.checkSections(d)
	case "causes":
		return g.checkCauses(d)
	}
	if d.Loss != nil && g.Figure != "serial" {
		for i := range d.Loss.Terms {
			if t := &d.Loss.Terms[i]; t.Name == g.Figure && g.passed(d.Loss.value(t, g.Change), ratio(t.Noise, d.Loss.Before)) {
				return []string{fmt.Sprintf("%s: %s went from %s to %s of the core time", g.Text, t.Title,
					unit.Percent(ratio(t.Before, d.Loss.Before)), unit.Percent(ratio(t.After, d.Loss.After)))}
			}
		}
	}
	for _, f := range d.Whole {
		if f.Name == g.Figure && g.passed(f.value(g.Change), f.Noise) {
			return []string{fmt.Sprintf("%s: %s", g.Text, f.words())}
		}
	}
	return nil
}

// value is the change, or the figure after. The run time changes relatively.
func (f *FigureDiff) value(change bool) float64 {
	switch {
	case change && f.Unit != "share":
		return ratio(f.Delta(), f.Before)
	case change:
		return f.Delta()
	}
	return f.After
}

// value is a term's share of the core time after, or by how much it grew, as a share of the core
// time before: what did not change is no more because the rest has become less.
func (d *LossDiff) value(t *TermDiff, change bool) float64 {
	if change {
		return ratio(t.Delta(), d.Before)
	}
	return ratio(t.After, d.After)
}

func (f *FigureDiff) words() string {
	if f.Unit != "share" {
		return fmt.Sprintf("%s went from %s to %s %s", strings.ToLower(f.Title), unit.SI(f.Before), unit.SI(f.After), f.Unit)
	}
	return fmt.Sprintf("%s went from %s to %s", strings.ToLower(f.Title), unit.Percent(f.Before), unit.Percent(f.After))
}

// passed tells whether x lies beyond the limit; a change must do so by more
// than noise.
func (g Gate) passed(x, noise float64) bool {
	const rounding = 1e-12
	if !g.Change {
		noise = 0
	}
	if g.Less {
		return x < g.Limit-noise-rounding
	}
	return x > g.Limit+noise+rounding
}

func (g Gate) checkSections(d *Diff) []string {
	var out []string
	for i := range d.Sections {
		s := &d.Sections[i]
		x := s.Imbalance.After
		if g.Change {
			x = s.Imbalance.Delta()
		}
		if s.Word != ChangeGone && g.passed(x, s.Imbalance.Noise) {
			out = append(out, fmt.Sprintf("%s: %s went from %s to %s", g.Text, s.EndsAt.EndShort(),
				unit.Percent(s.Imbalance.Before), unit.Percent(s.Imbalance.After)))
		}
	}
	return out
}

// checkCauses counts the causes after, or how many more they are than before.
func (g Gate) checkCauses(d *Diff) []string {
	before, after := 0, 0
	for i := range d.Sections {
		for _, c := range d.Sections[i].Causes {
			if c.Word != ChangeNew {
				before++
			}
			if c.Word != ChangeGone {
				after++
			}
		}
	}
	x := float64(after)
	if g.Change {
		x -= float64(before)
	}
	if !g.passed(x, 0) {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s before, %d after", g.Text, countOf(before, "cause"), after)}
}
