package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"lime/internal/analysis"
	"lime/internal/profile"
	"lime/internal/unit"
)

// TextOptions say how the text report looks and how much it tells.
type TextOptions struct {
	Color    bool
	Width    int   // columns to fill; 0 = Width, and sources are not cut
	ASCII    bool  // no other characters
	Sections int   // how many sections to explain; 0 = those that matter
	All      bool  // every section, every cause
	Only     []int // explain these sections and no others, by their places in the list
}

// WriteText writes the report for a terminal.
func WriteText(w io.Writer, r *Report, o TextOptions) error {
	p := newPrinter(w, o)
	p.header(r)
	if told := tell(r.Verdicts); len(told) > 0 {
		p.blank()
		p.verdicts(told)
	}
	var full []int
	first := r.mostlySerial() // what loses most comes first
	if first {
		p.serial(r)
	}
	if len(r.Sections) == 0 {
		p.blank()
		p.para(0, nothingRan(r))
	} else {
		p.sectionTable(r, o)
		full = shown(r, o)
		for _, i := range full {
			p.blank()
			p.section(r, &r.Sections[i], i+1, o)
		}
		if o.Only == nil {
			p.others(r, full)
		}
	}
	p.locks(r)
	p.costs(r, full)
	if !first {
		p.serial(r)
	}
	p.effort(r)
	p.waste(r, o.All)
	if o.All {
		p.instructions(r.Instrs)
	}
	p.notes(r.Notes, o.All)
	return p.done()
}

// mostlySerial tells whether a stretch of one thread alone loses more than any section.
func (r *Report) mostlySerial() bool {
	return len(r.Serial) > 0 && r.Serial[0].AllLost >= littleLost && (len(r.Sections) == 0 || r.Serial[0].AllLost > r.Sections[0].AllLost)
}

// nothingRan says why there is no section to show.
func nothingRan(r *Report) string {
	if r.Program.Threads == 0 && ending(&r.Program) != "" {
		return "Nothing was measured: the run was cut off before the program had begun."
	}
	if r.Program.Threads < 2 {
		return "There is nothing to balance: the program ran a single thread."
	}
	return "No parallel section was seen: no barrier, join or parallel region ended while several threads " +
		"worked. If the threads meet somewhere else, name the function: lime simulate --section-end FUNC."
}

// fullSections is how many sections are explained in full, where nobody says how many.
const fullSections = 3

// shown returns the sections to explain in full: those that matter, the worst ones first. The
// others have a line each.
func shown(r *Report, o TextOptions) []int {
	if o.Only != nil {
		return o.Only
	}
	var out []int
	for i := range r.Sections {
		switch {
		case o.All, o.Sections > 0 && i < o.Sections, o.Sections == 0 && i < fullSections && r.Sections[i].Matters:
			out = append(out, i)
		}
	}
	return out
}

func (p *printer) header(r *Report) {
	g := &r.Program
	p.line("%s", p.st.bold(cut(clean(g.CommandLine()), p.wide())))
	p.para(0, collected(g))
	if words := measured(g); words != "" {
		p.labelled(0, "Measured: ", words, p.st.bold)
	}
	if words := timeline(r.Notes); words != "" {
		p.para(0, words)
	}
	if words := noteText(r.Notes, profile.NoteElsewhere); words != "" {
		p.labelled(0, "Caution: ", words, p.st.warn)
	}
	p.blank()
	if r.Loss != nil && r.Loss.Headline != "" {
		p.emphasised(r.Loss.Headline)
		p.blank()
	}
	left, right := figures(r)
	for i := range left {
		p.line("%s%s  %s%s", fit(left[i][0], 15), p.st.bold(fit(left[i][1], 28)), fit(right[i][0], 21), p.st.bold(right[i][1]))
	}
	p.loss(r)
}

// measured says what part of the run the report is about; "" if that is all of it.
func measured(g *Program) string {
	m := g.Measured
	if m == nil {
		return ""
	}
	what := func(ns uint64) string {
		if g.Collector == "simulate" && g.ClockUnit == "instructions" { // its clock ticks once in each
			return unit.SI(float64(ns)) + " instructions"
		}
		return unit.Nanos(ns).String()
	}
	stretches := "in one stretch"
	if m.Stretches != 1 {
		stretches = fmt.Sprintf("in %d stretches", m.Stretches)
	}
	return fmt.Sprintf("%s of %s, %s of the run, %s (%s). Every figure is of that part; of the rest nothing is said.",
		what(m.Time), what(m.Whole), unit.Percent(ratio(float64(m.Time), float64(m.Whole))), stretches, strings.Join(m.Options, " "))
}

// collected says how the data came about.
func collected(g *Program) string {
	how := map[string]string{"simulate": "Simulated", "record": "Recorded"}[g.Collector]
	if how == "" {
		how = strings.Replace("From "+g.Collector, "From import ", "Imported from ", 1)
	}
	out := fmt.Sprintf("%s on %s", how, countOf(g.Cores, "core"))
	if g.Ranks > 0 {
		out = how
	}
	if alone := map[string]string{"record": "Recorded natively", "count": "Counted in parallel"}[g.Collector]; alone != "" {
		out = alone // its times are those of a machine with a core for every thread
	}
	if g.Ranks > 0 {
		out += " in " + countOf(g.Ranks, "rank")
	}
	if g.Model != "" && g.Model != "native" {
		out += ", model " + g.Model
	}
	switch {
	case g.ClockUnit == "": // of a run that was cut off at once
		out += "."
	case g.TimeLabel == g.CountLabel:
		out += fmt.Sprintf("; times in %s, and counts, %s.", g.ClockUnit, g.TimeLabel)
	default:
		out += fmt.Sprintf("; times in %s, %s; counts %s.", g.ClockUnit, g.TimeLabel, g.CountLabel)
	}
	return out + ending(g)
}

// noteTimeline is the note that says which times a recorded run's are, and how long the run really
// took.
const noteTimeline = "cpu-time"

// timeline tells it beside the times, or what a counted run took: beside a native run, if there was
// one.
func timeline(notes []Note) string {
	for _, code := range []string{noteTimeline, profile.NoteCompared, profile.NoteHostTime} {
		if words := noteText(notes, code); words != "" {
			return words
		}
	}
	return ""
}

// noteText is a note as a sentence.
func noteText(notes []Note, code string) string {
	for _, n := range notes {
		if n.Code == code && n.Text != "" {
			return strings.ToUpper(n.Text[:1]) + strings.TrimSuffix(n.Text[1:], ".") + "."
		}
	}
	return ""
}

// ending tells how the program ended, where that is worth a word.
func ending(g *Program) string {
	switch g.EndState {
	case "exited":
		if g.ExitStatus != 0 {
			return fmt.Sprintf(" The program ended with status %d.", g.ExitStatus)
		}
		return ""
	case "signalled":
		return fmt.Sprintf(" The program was ended by signal %d.", g.ExitStatus)
	case "interrupted":
		return " The run was interrupted; this is what had finished."
	case "deadlock":
		return " The program deadlocked; this is what had finished."
	case "running", "lime-failed":
		return " The run was cut off; this is what had finished."
	}
	return ""
}

// saidElsewhere lists the verdicts whose words the report has in another place.
var saidElsewhere = []string{"no-sections", "incomplete", "abnormal-end"}

// tell returns the verdicts that are worth printing.
func tell(list []Verdict) []Verdict {
	return slices.DeleteFunc(slices.Clone(list), func(v Verdict) bool { return slices.Contains(saidElsewhere, v.Code) })
}

// verdicts prints judgements on the data, the warnings louder.
func (p *printer) verdicts(list []Verdict) {
	for _, v := range list {
		if v.Severity == "warn" {
			p.labelled(0, "Caution: ", v.Text, p.st.warn)
		} else {
			p.item(0, "Note: ", v.Text)
		}
	}
}

func (p *printer) sectionTable(r *Report, o TextOptions) {
	p.blank()
	p.line("%s%s", p.st.bold(fit("Parallel sections, by all they lose", 40+p.extra)),
		p.st.dim("of core time           imbalance   times"))
	rows := len(r.Sections)
	if !o.All {
		rows = min(rows, 8)
	}
	most := max(r.Sections[0].AllLost, 0.02) // small losses look small
	for i := range r.Sections[:rows] {
		p.sectionRow(&r.Sections[i], i+1, most)
	}
	if rest := r.Sections[rows:]; len(rest) > 0 {
		lost := 0.0
		for i := range rest {
			lost += rest[i].AllLost
		}
		p.line("%s", p.st.dim(fmt.Sprintf("    and %d more, together %s (--all shows them)", len(rest), unit.Percent(lost))))
	}
}

func (p *printer) sectionRow(s *Section, number int, most float64) {
	ratio := 0.0
	if most > 0 {
		ratio = s.AllLost / most
	}
	b, w := bar(ratio, 14)
	p.line("%3d %s %s %s%s %s %s", number, p.st.place(fit(cutPlace(clean(s.EndsAt.End()), 35+p.extra), 35+p.extra)),
		right(unit.Percent(s.AllLost), 7), p.st.loud(b), strings.Repeat(" ", 14-w),
		right(unit.Percent(s.Imbalance), 7), right(fmt.Sprint(s.Instances), 7))
}

// serial lists the longest stretches in which one thread worked alone.
func (p *printer) serial(r *Report) {
	rows := serialShown(r)
	if len(rows) == 0 {
		return
	}
	p.blank()
	p.rule("One thread alone")
	for i := range rows {
		s := &rows[i]
		p.line("  %s  until %s", p.st.bold(right(unit.Percent(s.TimeShare), 7)), p.st.place(cutPlace(clean(s.EndsAt.End()), 60)))
		for _, words := range s.spent() {
			p.para(11, clean(words))
		}
	}
}

// spent says what took the time of a stretch.
func (s *Stretch) spent() (words []string) {
	if s.Loading >= littleLost {
		words = append(words, fmt.Sprintf("%s of it while %s", unit.Percent(s.Loading), analysis.LoadingLibraries))
	}
	if at := s.Spent; at != nil {
		about := map[bool]string{true: "about "}[at.About]
		words = append(words, fmt.Sprintf("%s%s of it at %s", about, unit.Percent(at.Share), at.Place.String()))
	}
	return words
}

// serialShown are the longest stretches, if they are worth a word.
func serialShown(r *Report) []Stretch {
	const least, most = 0.05, 3 // of the run time; rows
	if r.Whole.SerialShare < least && !r.mostlySerial() {
		return nil
	}
	n := 0
	for n < min(len(r.Serial), most) && (n == 0 || r.Serial[n].TimeShare >= leastShown) {
		n++
	}
	return r.Serial[:n]
}

func (p *printer) notes(notes []Note, all bool) {
	lines := noteLines(notes, all)
	if len(lines) == 0 {
		return
	}
	p.blank()
	p.rule("Notes")
	for _, line := range lines {
		p.item(0, "- ", line)
	}
}

// countOf returns "1 thread", "2 threads".
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
