package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"lime/internal/profile"
	"lime/internal/unit"
)

// WriteAnnotation writes annotated source for a terminal; with o.All the
// events stand below their lines.
func WriteAnnotation(w io.Writer, a *Annotation, o TextOptions) error {
	p := newPrinter(w, o)
	for i := range a.Files {
		if i > 0 {
			p.blank()
		}
		p.annotatedFile(a, &a.Files[i], o)
	}
	return p.done()
}

func (p *printer) annotatedFile(a *Annotation, f *AnnotatedFile, o TextOptions) {
	p.rule(clean(f.Path))
	p.line("%s", p.st.dim("   time  runs, by thread            line"))
	indent := commonIndent(sourceLines(f))
	for i := range f.Lines {
		l := &f.Lines[i]
		if i > 0 && l.Line != f.Lines[i-1].Line+1 {
			p.line("%s", p.st.dim(strings.Repeat(" ", 38)+"⋯"))
		}
		p.annotatedLine(a, l, indent, o)
		if o.All {
			p.lineEvents(a, l)
		}
	}
}

func sourceLines(f *AnnotatedFile) []SourceLine {
	out := make([]SourceLine, len(f.Lines))
	for i, l := range f.Lines {
		out[i] = SourceLine{Line: l.Line, Text: l.Text}
	}
	return out
}

func (p *printer) annotatedLine(a *Annotation, l *AnnotatedLine, indent string, o TextOptions) {
	share := ""
	if l.Time > 0 {
		share = unit.Percent(ratio(l.Time, a.Time))
	}
	span, drawn := countWords(pick(l.Visits, a.Threads))
	text := strings.TrimPrefix(clean(l.Text), indent)
	if !l.Known {
		text = "(source not at hand)"
	}
	p.line("%s  %s %s %s  %s", right(share, 7), fit(span, 16), p.st.paint("33", fit(drawn, 8)),
		p.st.dim(right(fmt.Sprint(l.Line), 5)), p.cutSource(text, 41, o))
}

// pick returns the counts of the threads that are of interest.
func pick(counts []float64, threads []int) []float64 {
	if len(counts) == 0 {
		return nil
	}
	out := make([]float64, len(threads))
	for i, t := range threads {
		out[i] = counts[t]
	}
	return out
}

// countWords describes counts by thread: their range, and a line of bars if they differ.
func countWords(counts []float64) (span, drawn string) {
	if len(counts) == 0 || slices.Max(counts) == 0 {
		return "", ""
	}
	lo, hi := slices.Min(counts), slices.Max(counts)
	if lo == hi {
		return unit.SI(lo) + " in each", ""
	}
	return unit.SI(lo) + " to " + unit.SI(hi), spark(counts, 8)
}

func (p *printer) lineEvents(a *Annotation, l *AnnotatedLine) {
	for _, e := range l.Events {
		span, drawn := countWords(pick(e.Counts, a.Threads))
		p.line("         %s %s %s", p.st.dim(fit(span, 16)), p.st.paint("33", fit(drawn, 8)),
			p.st.dim("       "+clean(profile.KindTitle(e.Kind))))
	}
}
