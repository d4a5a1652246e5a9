package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lime/internal/unit"
)

// kindWords says how a section ends.
var kindWords = map[string]string{
	"barrier":       "a barrier",
	"join":          "the join of its threads",
	"region-end":    "the end of a parallel region",
	"built-barrier": "a barrier that the program built itself",
	"custom":        "a place named with --section-end",
	"collective":    "a call of MPI in which its processes meet",
	"message":       "a call of MPI in which a process waits for another's message",
	"serial":        "the end of one thread's work alone",
	"exit":          "the end of the program",
}

func (p *printer) section(r *Report, s *Section, number int, o TextOptions) {
	lead := fmt.Sprintf("%d  ", number)
	p.rule(lead + cutPlace(clean(s.EndsAt.End()), p.width-6-columns(lead)))
	p.para(0, sectionWords(r, s))
	p.verdicts(tell(s.Verdicts))
	p.blank()
	p.threads(r, s)
	p.course(r, s)
	p.balance(r, s)
	if s.Ledger != nil && (o.All || o.Only != nil || s.uneven()) {
		p.blank()
		p.ledger(r, s)
	}
	causes := s.Causes
	if o.All || o.Only != nil && len(causes) == 0 {
		causes = slices.Concat(s.Causes, s.Minor)
	}
	for i := range causes {
		p.blank()
		p.cause(r, s, &causes[i], i > 0 && causes[i].sameLine(&causes[i-1]))
	}
	if o.All {
		p.candidates(s)
	}
	p.noCause(s, o)
}

// uneven reports whether the section's imbalance is worth an account: it loses as much as is worth
// a word, or a cause of it is told.
func (s *Section) uneven() bool {
	return s.Loss.Imbalance >= littleLost || slices.ContainsFunc(s.Causes, func(c Cause) bool { return c.CostShare == 0 })
}

// candidates lists what correlates with the times without being a cause.
func (p *printer) candidates(s *Section) {
	if len(s.Candidates) == 0 {
		return
	}
	p.blank()
	p.line("%s", p.st.bold("Correlate, but are no causes:"))
	for i := range s.Candidates {
		c := &s.Candidates[i]
		p.line("  score %4.2f  %s %s", c.Score, fit(clean(c.Title), 18), p.st.place(cutPlace(clean(c.Place.String()), p.wide()-34)))
		if i+1 == len(s.Candidates) || s.Candidates[i+1].Why != c.Why {
			p.line("              %s", p.st.dim("("+c.Why+")"))
		}
	}
}

// sectionWords describes the section in a sentence or two.
func sectionWords(r *Report, s *Section) string {
	kind := kindWords[s.Kind]
	if kind == "" {
		kind = s.Kind
	}
	out := fmt.Sprintf("Ends at %s; %s of %s; imbalance %s.", kind, countOf(s.Instances, "instance"), teamWords(s), unit.Percent(s.Imbalance))
	switch {
	case s.Balanced && len(s.Causes) == 0:
		return out + " It is balanced."
	case s.Balanced, fmt.Sprintf("%.2f", s.Speedup) == "1.00":
		return out + " Its threads arrive together."
	case s.doubted():
		return strings.TrimSuffix(out, ".") + ", which nothing proves to be the program's."
	case s.Chance > 0:
		win := max(0, s.TimeToWin-s.Chance)
		return out + fmt.Sprintf(" Balanced, but for the chance of who took which piece of work, it would run %.2f times as fast: %s to win.",
			ratio(s.Time, s.Time-win), r.Program.Quantity(win))
	}
	return out + fmt.Sprintf(" Balanced, it would run %.2f times as fast: %s to win.",
		s.Speedup, r.Program.Quantity(s.TimeToWin))
}

// doubted reports whether most of what a section's threads differ by is not proved to be the
// program's doing.
func (s *Section) doubted() bool { return s.Loss.Unproved > s.Loss.Imbalance }

// teamWords tells how many threads take part in an instance, and in how many there are in all where
// that is more.
func teamWords(s *Section) string {
	if s.Team.Max == 0 { // a report of an earlier version
		return countOf(len(s.Threads), "thread")
	}
	out := countOf(s.Team.Max, "thread")
	if s.Team.Min != s.Team.Max {
		out = fmt.Sprintf("%d to %s", s.Team.Min, out)
	}
	if len(s.Threads) > s.Team.Max {
		out += fmt.Sprintf(" (%d in all)", len(s.Threads))
	}
	return out
}

// manyThreads is the number from which threads are drawn as a line of bars, and
// no longer one below the other.
const manyThreads = 16

func (p *printer) threads(r *Report, s *Section) {
	if len(s.Threads) == 0 {
		return
	}
	if len(s.Threads) > manyThreads {
		p.sparkRow("time", times(s), "", r.Program.Short)
		return
	}
	longest := 0.0
	for _, t := range s.Threads {
		longest = max(longest, t.Time+t.Wait)
	}
	for _, t := range s.Threads {
		p.threadRow(r, t, longest)
	}
}

func (p *printer) threadRow(r *Report, t ThreadTime, longest float64) {
	const room = 44
	scale := func(x float64) float64 {
		if longest <= 0 {
			return 0
		}
		return x / longest
	}
	work, w := bar(scale(t.Time), room)
	wait := max(0, int(math.Round(scale(t.Time+t.Wait)*room))-w)
	p.line("  %s %s %s%s", fit(fmt.Sprintf("thread %d", t.Thread), 11), right(r.Program.Short(t.Time), 8),
		p.st.accent(work), p.st.dim(strings.Repeat("░", wait)))
}

// sparkRow draws one value a thread, with their range.
func (p *printer) sparkRow(label string, values []float64, paint string, print func(float64) string) {
	if len(values) == 0 {
		return
	}
	lo, hi := slices.Min(values), slices.Max(values)
	span := print(lo) + " to " + print(hi)
	switch {
	case lo == hi:
		span = print(lo) + " in each"
	case print(lo) == print(hi): // nothing to see
		span, values = "about "+print(lo)+" in each", make([]float64, len(values))
	}
	line := spark(values, 44)
	if paint == "" {
		paint = "34"
	}
	p.line("  %s %s%s %s", fit(label, 11), p.st.paint(paint, line), strings.Repeat(" ", 44-columns(line)), span)
}

func times(s *Section) []float64 {
	out := make([]float64, len(s.Threads))
	for i, t := range s.Threads {
		out[i] = t.Time
	}
	return out
}

// course draws the imbalance over the instances, when there are several.
func (p *printer) course(r *Report, s *Section) {
	if s.Balanced {
		return
	}
	if points := s.Course.Points; len(points) > 2 {
		lost := make([]float64, len(points))
		for i, c := range points {
			lost[i] = c.LostTime
		}
		p.sparkRow("instances", lost, "31", r.Program.Short)
	}
	if s.Course.Text != "" && s.Instances > 1 {
		p.para(2, s.Course.Text)
	}
}

// noCause says so when nothing explains an imbalance.
func (p *printer) noCause(s *Section, o TextOptions) {
	if len(s.Causes) > 0 || s.Balanced {
		p.unshown(s, o)
		return
	}
	if s.nothingTold() {
		return
	}
	p.blank()
	p.para(0, noCauseWords)
}

// unshown tells how much --all would show beside.
func (p *printer) unshown(s *Section, o TextOptions) {
	var words []string
	if n := len(s.Minor); n > 0 {
		words = append(words, countOf(n, "cause")+" of little weight")
	}
	if n := len(s.Candidates); n > 0 {
		words = append(words, countOf(n, "place")+" that only "+map[bool]string{true: "correlates", false: "correlate"}[n == 1])
	}
	if len(words) > 0 && !o.All {
		p.blank()
		p.line("%s", p.st.dim(strings.Join(words, " and ")+" not shown (--all shows them)."))
	}
}

// nothingTold tells whether a verdict says already that nothing was found, or why nothing can be.
func (s *Section) nothingTold() bool {
	told := []string{"other-loss", "nothing-found", "nothing-significant", "too-few-samples", "noise", "first-calls", "loading", "spread-thin",
		"goroutines", "same-work", "dealt"}
	return slices.ContainsFunc(s.Verdicts, func(v Verdict) bool { return slices.Contains(told, v.Code) })
}

const noCauseWords = "Nothing that was counted explains this imbalance: no event rises and falls with the " +
	"threads' times by more than chance would have it."
