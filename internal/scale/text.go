package scale

import (
	"fmt"
	"io"
	"math"
	"path"
	"strings"

	"lime/internal/analysis"
	"lime/internal/unit"
)

// marks are the terms' characters in the chart.
func marks() map[string]rune {
	return map[string]rune{analysis.TermUseful: '+', analysis.TermImbalance: 'i', analysis.TermSerial: 's',
		analysis.TermLock: 'l', analysis.TermWait: 'w',
		analysis.TermOffCore: 'o', analysis.TermOverhead: 'v', analysis.TermMemory: 'm', analysis.TermUnproved: 'u'}
}

// chartWidth is how many characters stand for all the core time.
const chartWidth = 50

// WriteText writes the scaling for people. All: every place, however little it costs.
func WriteText(w io.Writer, s *Scaling, all bool) error {
	t := &text{w: w, s: s, all: all}
	t.head()
	t.chart()
	t.table()
	t.losses()
	t.paths()
	t.ahead()
	return t.err
}

type text struct {
	w   io.Writer
	s   *Scaling
	all bool
	err error
}

func (t *text) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

func (t *text) head() {
	first, last := t.s.Points[0], t.s.Points[len(t.s.Points)-1]
	what := "strong scaling (the same work on more cores)"
	if t.s.Mode == Weak {
		what = "weak scaling (as much work for each core)"
	}
	how := "as said"
	if t.s.Recognised {
		how = fmt.Sprintf("by their work: %.2f times as much on %.4g times the cores",
			last.term(analysis.TermUseful)/first.term(analysis.TermUseful), float64(last.Cores)/float64(first.Cores))
	}
	t.printf("%d runs on %d to %d cores; %s, %s.\n", len(t.s.Points), first.Cores, last.Cores, what, how)
	for _, x := range t.s.Warnings {
		t.printf("Note: %s\n", x)
	}
}

// chart is the efficiency over the cores; what is lost is stacked by its cause.
func (t *text) chart() {
	t.printf("\nEfficiency, and what the rest of the core time is lost to\n")
	for i := range t.s.Points {
		p := &t.s.Points[i]
		t.printf("%7d  %s\n", p.Cores, t.bar(p))
	}
	legend := []string{"█ as efficient as the first"}
	for _, l := range t.s.Points[0].Losses {
		legend = append(legend, fmt.Sprintf("%c %s", marks()[l.Term], l.Title))
	}
	t.printf("         %s\n", strings.Join(legend[:5], "  "))
	t.printf("         %s\n", strings.Join(legend[5:], "  "))
}

// bar divides a row's characters among the shares; what is left over by rounding goes to the next.
func (t *text) bar(p *Point) string {
	var b strings.Builder
	cells, sum := 0, 0.0
	fill := func(share float64, with rune) {
		sum += share
		for n := int(math.Round(sum * chartWidth)); cells < min(n, chartWidth); cells++ {
			b.WriteRune(with)
		}
	}
	fill(min(p.Efficiency, 1), '█')
	lost := 0.0
	for _, l := range p.Losses {
		lost += max(l.Share, 0)
	}
	for _, l := range p.Losses { // terms that became less make room for others
		if l.Share > 0 {
			fill(l.Share/lost*(1-min(p.Efficiency, 1)), marks()[l.Term])
		}
	}
	return b.String()
}

func (t *text) table() {
	t.printf("\n  cores       time   speed-up  efficiency  lost most to\n")
	for i := range t.s.Points {
		p := &t.s.Points[i]
		t.printf("%7d  %9s  %9.2f  %9s   %s\n", p.Cores, t.time(p.Time), p.Speedup, unit.Percent(p.Efficiency), p.worst())
	}
	switch k := t.s.Knee; {
	case k > 0:
		t.printf("The knee is at %d cores: beyond, more cores cost more efficiency than they bring speed.\n", k)
	default:
		t.printf("There is no knee up to %d cores.\n", t.s.Points[len(t.s.Points)-1].Cores)
	}
}

// worst is what costs most, with its place, in a few words.
func (p *Point) worst() string {
	if p.Limit == nil || p.Limit.Share < leastShown {
		return ""
	}
	return fmt.Sprintf("%s %s, %s", unit.Percent(p.Limit.Share), p.Limit.Title, p.Limit.Places[0].where())
}

// where names a place in a few words.
func (p *Place) where() string {
	switch {
	case p.File != "" && p.Line > 0 && p.Function != "":
		return fmt.Sprintf("%s:%d in %s", path.Base(p.File), p.Line, p.Function)
	case p.File != "" && p.Line > 0:
		return fmt.Sprintf("%s:%d", path.Base(p.File), p.Line)
	case p.Function != "":
		return p.Function
	case p.Why != "":
		return p.Why
	}
	return "where is not known"
}

// leastShown is the share of the core time that is worth a line: below, a person would change
// nothing for it. Everything is shown on demand.
const leastShown = 0.005

// losses is the account of the largest run against the smallest.
func (t *text) losses() {
	first, last := &t.s.Points[0], &t.s.Points[len(t.s.Points)-1]
	t.printf("\nFrom %d to %d cores %s of the core time is lost; it went into\n", first.Cores, last.Cores, unit.Percent(1-last.Efficiency))
	for _, l := range last.Losses {
		if !t.all && math.Abs(l.Share) < leastShown {
			continue
		}
		t.printf("%9s  %s\n", unit.Percent(l.Share), l.Title)
		rest := 0.0
		for _, p := range l.Places {
			if !t.all && math.Abs(p.Share) < leastShown {
				rest += p.Share
				continue
			}
			t.printf("%19s  %s: %s, %s scaled\n", unit.Percent(p.Share), p.where(), t.time(p.Time), t.time(p.Before))
		}
		if math.Abs(rest) >= leastShown {
			t.printf("%19s  places below %s\n", unit.Percent(rest), unit.Percent(leastShown))
		}
	}
	t.printf("%9s  in all\n", unit.Percent(1-last.Efficiency))
}

// deepestShown is how many levels of call paths are shown; everything is on demand.
const deepestShown = 12

// paths is the scaled difference of the largest run's call paths.
func (t *text) paths() {
	last := &t.s.Points[len(t.s.Points)-1]
	if len(last.Paths) == 0 {
		return
	}
	t.printf("\nThe same by call paths, by samples: what each level takes more, with all that it calls\n")
	for _, l := range last.Paths {
		if !t.all && (math.Abs(l.Share) < leastShownPath || l.Depth >= deepestShown) {
			continue
		}
		t.printf("%9s  %s%s: %s, %s scaled\n", unit.Percent(l.Share), strings.Repeat("  ", l.Depth), l.Name, t.time(l.Time), t.time(l.Before))
	}
}

// leastShownPath is the share from which a level of the call paths is shown: a tree repeats what is
// inside of a level.
const leastShownPath = 0.02

func (t *text) ahead() {
	if len(t.s.Forecast) == 0 {
		return
	}
	t.printf("\nForecast (not run)\n  cores       time   speed-up  efficiency  will cost most\n")
	for _, f := range t.s.Forecast {
		sure := ""
		if !f.Trusted {
			sure = "  (not to be trusted)"
		}
		t.printf("%7d  %9s  %9.2f  %9s   %s%s\n", f.Cores, t.time(f.Time), f.Speedup, unit.Percent(f.Efficiency), f.Limit, sure)
	}
	t.printf("%s\n", t.s.Outlook)
}

// time is a figure of the runs' clock.
func (t *text) time(x float64) string {
	if t.s.Unit == "ns" {
		return unit.Nanos(x).String()
	}
	return unit.SI(x)
}
