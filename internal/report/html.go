package report

import (
	_ "embed" // the page's parts
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"lime/internal/profile"
	"lime/internal/unit"
)

//go:embed web/report.html.tmpl
var pageTemplate string

//go:embed web/report.css
var pageCSS string

//go:embed web/report.js
var pageJS string

// page is what the template shows.
type page struct {
	Report    *Report
	CSS       template.CSS
	JS        template.JS
	Command   string
	Collected string
	Nothing   string
	Tiles     []tile
	Loss      *pageLoss
	Sections  []pageSection
	SerialTop []Stretch
	Effort    *pageEffort
	Sources   []pageSource
	Told      []Verdict
	Notes     []string
}

type tile struct{ Label, Value string }

// pageSection is a section with what its template needs beside it.
type pageSection struct {
	*Section
	Number      int
	Anchor      string
	Width       string // of its bar in the overview, in percent
	Words       string
	Unit        string
	Time        *plot
	CoursePlot  *plot
	Numbers     []ThreadTime
	LedgerWords string
	LedgerRows  []LedgerRow
	LedgerRest  []LedgerRow
	Scatter     []*plot
	Causes      []pageCause
	Minor       []pageCause
	NoCause     string
	Told        []Verdict
}

type pageCause struct {
	*Cause
	Anchor     string
	ShareWords string
	ShareSpan  string
	Win        string
	Which      string // of which instances Numbers are
	CountWord  string
	Numbers    []ThreadCount
	Plots      []*plot
	Again      bool // its source has just been shown
}

// Limits of the page, so that it stays readable and small.
const (
	pageSections = 200
	pageCounts   = 8 // causes with charts in a section
	pageRows     = 40
)

// WriteHTML writes the report as one file that needs nothing else.
func WriteHTML(w io.Writer, r *Report) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"pct": unit.Percent, "si": r.Program.Short, "title": profile.KindTitle, "together": together,
		"shareOf": func(l *Ledger, row LedgerRow) string { return l.percent(row.Time) },
		"weight":  func(l *Ledger, row LedgerRow) float64 { return l.weight(&row) }, "where": func(row LedgerRow) string { return row.where() },
		"net":   func(row LedgerRow) string { return row.netWords() },
		"until": func(s Stretch) string { return s.EndsAt.End() }, "path": pathWords, "parts": partWords,
		"count": func(time bool, n uint64) string {
			if time {
				return r.Program.Short(float64(n))
			}
			return fmt.Sprint(n)
		},
		"pct0":   func(x float64) string { return fmt.Sprintf("%.0f %%", x*100) },
		"titles": titleList, "costsTitle": func() string { return costsTitle },
		"lockTitle": func() string { return lockTitle }, "costsIntro": func() string { return costsIntro },
		"wasteTitle": func() string { return wasteTitle }, "wasteIntro": (*Waste).intro,
		"wasteAmount":  func(k WasteKind, w *Waste) string { return k.amount(w) },
		"wasteThreads": (*Waste).spreadWords, "wasteWorst": func(w *Waste, kind string) []*WastePair { return w.worst(kind, false) },
		"wasteAbout": (*WastePair).about, "wasteWhy": whyWords,
		"meter": func(x float64) string { return coordinate(100 * clamp(math.Abs(x))) },
	}).Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("the page's template: %w", err)
	}
	return t.Execute(w, newPage(r))
}

func titleList(kinds []string) string {
	titles := make([]string, len(kinds))
	for i, k := range kinds {
		titles[i] = profile.KindTitle(k)
	}
	return strings.Join(titles, ", ")
}

func newPage(r *Report) *page {
	p := &page{
		Report: r, CSS: template.CSS(pageCSS), JS: template.JS(pageJS),
		Command: r.Program.CommandLine(), Collected: strings.TrimSpace(collected(&r.Program) + " " + htmlMeasured(&r.Program) + timeline(r.Notes)), Nothing: nothingRan(r),
		Tiles: tiles(r), Loss: newPageLoss(r), Told: told(r), Notes: noteLines(r.Notes, true),
		Effort: newPageEffort(r.Effort), SerialTop: r.Serial[:min(len(r.Serial), 10)],
	}
	most := 0.02 // small losses look small
	for i := range r.Sections {
		most = max(most, r.Sections[i].AllLost)
	}
	for i := range r.Sections[:min(len(r.Sections), pageSections)] {
		p.Sections = append(p.Sections, newPageSection(r, i, most))
	}
	p.Sources = pageSources(r)
	return p
}

// told are the verdicts on the run, what the notes say of it among them.
func told(r *Report) []Verdict {
	out := tell(r.Verdicts)
	if words := noteText(r.Notes, profile.NoteElsewhere); words != "" {
		out = append([]Verdict{{Code: profile.NoteElsewhere, Severity: "warn", Text: words}}, out...)
	}
	return out
}

func tiles(r *Report) []tile {
	return []tile{
		runTimeTile(&r.Program),
		{"parallel efficiency", unit.Percent(r.Whole.ParallelEfficiency)},
		{"load balance", unit.Percent(r.Whole.LoadBalance)},
		{"threads, at a time", fmt.Sprintf("%d, %d", r.Program.Threads, r.Whole.Width)},
	}
}

// runTimeTile keeps long units out of the figure.
func runTimeTile(g *Program) tile {
	if g.ClockUnit == "ns" {
		return tile{"run time", g.Quantity(g.RunTime)}
	}
	return tile{g.ClockUnit + " of run time", unit.SI(g.RunTime)}
}

func newPageSection(r *Report, i int, most float64) pageSection {
	s := &r.Sections[i]
	p := pageSection{
		Section: s, Number: i + 1, Anchor: fmt.Sprintf("s%d", i+1),
		Width: coordinate(100 * ratio(s.AllLost, most)), Words: sectionWords(r, s), Unit: r.Program.ClockUnit,
		Time: ofSection(s).timePlot(&r.Program), CoursePlot: coursePlot(&r.Program, s), Numbers: s.Threads, Told: tell(s.Verdicts),
	}
	if s.Balanced {
		p.CoursePlot = nil
	} else if !s.nothingTold() {
		p.NoCause = noCauseWords
	}
	if s.Ledger != nil {
		p.ledger(r)
	}
	if s.Balance != nil {
		p.Scatter = s.Balance.scatter(&r.Program)
	}
	for k := range s.Causes {
		p.Causes = append(p.Causes, newPageCause(r, s, p.Anchor, &s.Causes[k]))
		p.Causes[k].Again = k > 0 && s.Causes[k].sameLine(&s.Causes[k-1])
		if v := ofCause(&r.Program, s, &s.Causes[k]); k < pageCounts && len(v.threads) > 0 {
			p.Causes[k].Plots = []*plot{v.timePlot(&r.Program), v.countPlot()}
		}
	}
	for k := range s.Minor {
		p.Minor = append(p.Minor, newPageCause(r, s, p.Anchor, &s.Minor[k]))
	}
	return p
}

// ledger fills in the rows of the account and what is left.
func (p *pageSection) ledger(r *Report) {
	l := p.Ledger
	p.LedgerWords = ledgerWords(r, p.Section)
	rows, positive, negative := foldRows(l, pageRows, 0)
	p.LedgerRows = rows
	for _, rest := range []LedgerRow{{What: restPositive, Time: positive}, {What: restNegative, Time: negative}} {
		if worthARow(rest.Time, l.whole()) {
			rest.Share = rest.Time / l.whole()
			p.LedgerRest = append(p.LedgerRest, rest)
		}
	}
}

func newPageCause(r *Report, s *Section, section string, c *Cause) pageCause {
	p := pageCause{Cause: c, Anchor: fmt.Sprintf("%s-c%d", section, c.Rank), ShareWords: shareWords(c), ShareSpan: c.shareSpan(),
		Which: c.which(s), CountWord: c.countWord(&r.Program), Numbers: c.Counts}
	if c.TimeToWin > 0 {
		p.Win = toWin(r, c)
	}
	return p
}

// htmlMeasured is measured, as a part of a paragraph.
func htmlMeasured(g *Program) string {
	if words := measured(g); words != "" {
		return "Measured: " + words + " "
	}
	return ""
}
