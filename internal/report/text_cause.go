package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lime/internal/profile"
	"lime/internal/unit"
)

// ledger prints the exact account of a section.
func (p *printer) ledger(r *Report, s *Section) {
	l := s.Ledger
	p.para(0, ledgerWords(r, s))
	rows, positive, negative := foldRows(l, ledgerRows, ledgerShare)
	for i := range rows {
		p.ledgerRow(&r.Program, l, &rows[i])
	}
	p.rest(&r.Program, l, positive, restPositive)
	p.rest(&r.Program, l, negative, restNegative)
	p.line("  %s %s  %s", p.st.bold(right(l.percent(l.Total), 8)), right(r.Program.Short(l.Total), 8), "in all")
	if l.Spent != nil {
		p.para(2, l.Spent.Words())
	}
}

func ledgerWords(r *Report, s *Section) string {
	last := "The last thread to arrive"
	if s.Instances > 1 {
		last = "Over the instances, the last thread to arrive"
	}
	how := "Where that came from (an exact account):"
	if !s.Ledger.Exact {
		how = "Where that came from (an account of estimates):"
	}
	return fmt.Sprintf("%s worked %s longer than the mean.%s %s", last, r.Program.Quantity(s.Ledger.Total), s.Ledger.cancelWords(), how)
}

// The text shows at most so many rows of the ledger, none with a smaller share.
const (
	ledgerRows  = 10
	ledgerShare = 0.005
)

// Words for the rows that are not shown.
const (
	restPositive = "the rest that adds time"
	restNegative = "the rest that takes time away"
)

// foldRows returns the rows to print, at most so many and none with a smaller
// share; the others join the rest, what adds time and what takes it away apart.
func foldRows(l *Ledger, most int, least float64) (rows []LedgerRow, positive, negative float64) {
	positive, negative = l.RestPositive, l.RestNegative
	for _, row := range l.Rows {
		switch {
		case len(rows) < most && math.Abs(l.weight(&row)) >= least:
			rows = append(rows, row)
		case row.Time > 0:
			positive += row.Time
		default:
			negative += row.Time
		}
	}
	return rows, positive, negative
}

// where is the row's place; rows may have none.
func (r *LedgerRow) where() string {
	if r.Where().unknown() {
		return ""
	}
	return r.Where().Short()
}

func (p *printer) ledgerRow(g *Program, l *Ledger, row *LedgerRow) {
	b, w := bar(l.weight(row), 8)
	p.line("  %s %s  %s%s %s %s", p.st.bold(right(l.percent(row.Time), 8)), right(g.Short(row.Time), 8),
		p.st.loud(b), strings.Repeat(" ", 8-w),
		p.st.place(fit(cutPlace(clean(row.where()), 19+p.extra/2), 19+p.extra/2)), cut(clean(row.What), 30+p.extra-p.extra/2))
	if words := row.netWords(); words != "" {
		p.line("%s%s", strings.Repeat(" ", 30), p.st.dim(cut(clean(words), p.wide()-30)))
	}
}

// cutPlace cuts a place to n columns, and keeps what tells it from others: its line, or the
// distance from the symbol and of a long C++ name the end.
func cutPlace(text string, n int) string {
	head, tail := text, ""
	if i := strings.LastIndexByte(text, ':'); i >= 0 && strings.Trim(text[i+1:], "0123456789") == "" {
		head, tail = text[:i], text[i:]
	} else if i := strings.LastIndex(text, "+0x"); i >= 0 && strings.Trim(text[i+3:], "0123456789abcdef") == "" {
		head, tail = text[:i], text[i:]
		if columns(text) > n {
			head = withoutArguments(head)
		}
		if columns(head)+columns(tail) > n {
			head = withoutTemplates(head)
		}
		for columns(head)+columns(tail) > n && strings.Contains(strings.TrimPrefix(head, "…"), "::") {
			_, rest, _ := strings.Cut(strings.TrimPrefix(head, "…"), "::")
			head = "…" + rest
		}
	}
	return cut(head, max(n-columns(tail), 2)) + tail
}

// withoutTemplates leaves the arguments of templates out of a C++ or Rust name.
func withoutTemplates(name string) string {
	if strings.Contains(name, "operator") || strings.Count(name, "<") != strings.Count(name, ">") {
		return name
	}
	var b strings.Builder
	open := 0
	for _, r := range name {
		switch {
		case r == '<':
			if open++; open == 1 {
				b.WriteString("<…>")
			}
		case r == '>':
			open--
		case open == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// withoutArguments takes the list of types off the end of a C++ function's name.
func withoutArguments(name string) string {
	name = strings.TrimSuffix(name, " const")
	if !strings.HasSuffix(name, ")") {
		return name
	}
	open := 0
	for i := len(name) - 1; i > 0; i-- {
		switch name[i] {
		case ')':
			open++
		case '(':
			if open--; open == 0 {
				return name[:i]
			}
		}
	}
	return name
}

// worthARow tells whether a rest would show as more than 0.0 %.
func worthARow(time, total float64) bool { return math.Abs(ratio(time, total)) >= 0.0005 }

func (p *printer) rest(g *Program, l *Ledger, time float64, words string) {
	if !worthARow(time, l.whole()) {
		return
	}
	p.line("  %s %s  %s", right(l.percent(time), 8), right(g.Short(time), 8), p.st.dim(words))
}

// sameLine tells whether two causes stand on one line of source.
func (c *Cause) sameLine(d *Cause) bool { return c.File == d.File && c.Line == d.Line && c.Line > 0 }

// cause prints one cause with all that a reader needs to believe it. The source
// is left out where it has just been shown.
func (p *printer) cause(r *Report, s *Section, c *Cause, again bool) {
	p.causeHead(c)
	p.para(2, c.Sentence)
	if !again {
		p.source(c.Source)
	}
	p.counts(r, s, c)
	if c.TimeToWin > 0 {
		p.item(2, "To win: ", toWin(r, c))
	}
	if span := c.shareSpan(); span != "" {
		p.item(2, "Its share: ", span)
	}
	if c.Verified != nil {
		p.item(2, "Verified: ", c.Verified.Text)
	}
	if len(c.With) > 0 && !profile.FamilyOf(c.Event).Waits() { // of a lock the sentence says it
		p.item(2, "One decision with: ", list(c.With, len(c.With), func(w *Place) string { return clean(w.Short()) }))
	}
	if len(c.Parts) > 0 {
		p.item(2, "It consists of: ", partWords(c.Parts))
	}
	if len(c.Members) > 0 {
		p.item(2, "Lines that vary with it: ", memberWords(c.Members, 6))
	}
	for _, path := range c.Paths[:min(len(c.Paths), 2)] {
		p.item(2, "Called from: ", pathWords(path))
	}
	if len(c.Rivals) > 0 {
		p.item(2, "Not to be told apart from: ", rivalWords(c.Rivals, 4))
	}
	if c.Agreement != "" {
		p.item(2, "Note: ", c.Agreement)
	}
}

func (p *printer) causeHead(c *Cause) {
	left := fmt.Sprintf("Cause %d: %s at ", c.Rank, clean(c.Title))
	right := fmt.Sprintf("score %s, %s", scoreWords(c.Score), shareWords(c))
	if c.CostShare > 0 {
		right = "all threads: " + unit.Percent(c.CostShare)
	}
	room := p.wide() - columns(left) - columns(right) - 2
	room = max(room, 12)
	place := fit(cutPlace(clean(c.Place.String()), room), room)
	p.line("%s%s  %s", p.st.loud(left), p.st.bold(place), right)
}

// scoreWords prints a score; what rounds to nothing has no sign.
func scoreWords(score float64) string {
	if math.Abs(score) < 0.005 {
		score = 0
	}
	return fmt.Sprintf("%.2f", score)
}

// shareWords says how much the cause explains, and of what.
func shareWords(c *Cause) string {
	switch c.ShareKind {
	case "ledger":
		return "explains " + unit.Percent(c.Share)
	case "none":
		return c.addedWords()
	}
	return "R2 " + unit.Percent(c.Share)
}

// wideSpan is the width from which the bounds of a share are worth a line.
const wideSpan = 0.05

// shareSpan says how much the share varies over the instances, if that is much.
func (c *Cause) shareSpan() string {
	v := c.ShareInterval
	if v == nil || v.High-v.Low < wideSpan {
		return ""
	}
	return fmt.Sprintf("%s in this run; 95 %% bootstrap interval over its instances: %s to %s.", unit.Percent(v.Value),
		unit.Percent(v.Low), unit.Percent(v.High))
}

func toWin(r *Report, c *Cause) string {
	how := "if it were even among the threads"
	switch {
	case c.CostShare >= leastShown && c.WinShare < leastShown:
		return "nothing by waiting less here: who waits least takes as long as the others. Let that thread do less."
	case c.CostShare > 0:
		how = "if nobody had to wait here"
	}
	return fmt.Sprintf("up to %s, %s of the run time, %s.", r.Program.Quantity(c.TimeToWin), unit.Percent(c.WinShare), how)
}

// source prints the source lines, the cause's marked.
func (p *printer) source(lines []SourceLine) {
	indent := commonIndent(lines)
	for _, l := range lines {
		text := cut(strings.TrimPrefix(clean(l.Text), indent), p.wide()-12)
		if l.Mark {
			p.line("  %s %s  %s", p.st.loud(">"), p.st.bold(right(fmt.Sprint(l.Line), 6)), p.st.bold(text))
			continue
		}
		p.line("    %s  %s", p.st.dim(right(fmt.Sprint(l.Line), 6)), text)
	}
}

// commonIndent returns the blanks that every line that is not blank begins with.
func commonIndent(lines []SourceLine) string {
	least := -1
	for _, l := range lines {
		text := clean(l.Text)
		if trimmed := strings.TrimLeft(text, " "); trimmed != "" {
			if n := len(text) - len(trimmed); least < 0 || n < least {
				least = n
			}
		}
	}
	return strings.Repeat(" ", max(least, 0))
}

// counts draws the event's count in each thread below the thread's time.
func (p *printer) counts(r *Report, s *Section, c *Cause) {
	if len(c.Counts) == 0 {
		return
	}
	if which := c.which(s); which != "" {
		p.line("  %s", p.st.dim("by thread, "+which+":"))
	}
	time, count := make([]float64, len(c.Counts)), make([]float64, len(c.Counts))
	for i, t := range c.Counts {
		time[i], count[i] = t.Time, float64(t.Count)
	}
	if len(c.Counts) <= fewThreads {
		p.numbers(r, c)
		return
	}
	p.sparkRow("time", time, "", r.Program.Short)
	p.sparkRow(c.countWord(&r.Program), count, "33", c.countPrinter(r))
}

// which says of which instances the counts are.
func (c *Cause) which(s *Section) string {
	switch {
	case s.Instances < 2:
		return ""
	case c.Summed:
		return "all instances"
	}
	return fmt.Sprintf("instance %d", c.Seq+1)
}

// countWord says what the counts are.
func (c *Cause) countWord(g *Program) string {
	switch {
	case c.CountTime && g.CountLabel == profile.Sampled.String():
		return "here"
	case c.CountTime:
		return "cost"
	}
	return "count"
}

// countPrinter prints the counts: times, or numbers.
func (c *Cause) countPrinter(r *Report) func(float64) string {
	if c.CountTime {
		return r.Program.Short
	}
	return unit.SI
}

// fewThreads is the number up to which counts are printed and not drawn.
const fewThreads = 8

func (p *printer) numbers(r *Report, c *Cause) {
	thread, time, count := fit("thread", 6), fit("time", 6), fit(c.countWord(&r.Program), 6)
	for _, t := range c.Counts {
		thread += right(fmt.Sprint(t.Thread), 9)
		time += right(r.Program.Short(t.Time), 9)
		count += right(c.countPrinter(r)(float64(t.Count)), 9)
	}
	p.line("  %s", p.st.dim(thread))
	p.line("  %s", p.st.paint("34", time))
	p.line("  %s", p.st.paint("33", count))
}

// list joins at most so many words, and tells how many are left out.
func list[T any](items []T, most int, word func(*T) string) string {
	var words []string
	for i := range items[:min(len(items), most)] {
		words = append(words, word(&items[i]))
	}
	if len(items) > most {
		words = append(words, fmt.Sprintf("and %d more", len(items)-most))
	}
	return strings.Join(words, ", ")
}

// partWords lists the events of a cause with what each explains.
func partWords(parts []Part) string {
	return list(parts, len(parts), func(p *Part) string {
		if p.Share == nil {
			return fmt.Sprintf("%s (score %.2f)", profile.KindTitle(p.Event), p.Score)
		}
		return profile.KindTitle(p.Event) + " " + unit.Percent(*p.Share)
	})
}

func memberWords(members []Member, most int) string {
	return list(members, most, func(m *Member) string {
		titles := make([]string, len(m.Kinds))
		for i, k := range m.Kinds {
			titles[i] = profile.KindTitle(k)
		}
		return fmt.Sprintf("%s (%s)", m.Short(), strings.Join(titles, ", "))
	})
}

func rivalWords(rivals []Rival, most int) string {
	return list(rivals, most, func(r *Rival) string { return fmt.Sprintf("%s (%s)", r.Short(), profile.KindTitle(r.Event)) })
}

// pathWords prints a call path from the innermost caller outwards.
func pathWords(path []Frame) string {
	words := make([]string, 0, len(path))
	for _, f := range slices.Backward(path) {
		words = append(words, Place{File: f.File, Line: f.Line, Function: f.Function}.String())
	}
	return strings.Join(words, " < ")
}
