// What became of the threads' time, in the account's figures, with what to do about it and the code
// that samples saw.

package report

import (
	"fmt"
	"strings"

	"lime/internal/analysis"
	"lime/internal/unit"
)

// Effort is what became of the threads' time: they worked, made and moved work about (overhead), or
// waited. Shares of the three and the advice are the account's; times, and shares of times, are those
// of samples on the cores that there were.
type Effort struct {
	Threads       int         `json:"threads"`
	Work          float64     `json:"work"`
	Overhead      float64     `json:"overhead"`
	Idleness      float64     `json:"idleness"`
	WorkShare     float64     `json:"work_share"` // of the three together
	OverheadShare Interval    `json:"overhead_share"`
	IdlenessShare Interval    `json:"idleness_share"`
	Of            EffortParts `json:"of_account"`
	Bounds        Interval    `json:"overhead_of_account"`
	Limit         float64     `json:"limit"`  // a share from which overhead, or waiting, is high
	Advice        string      `json:"advice"` // "effective", "coarsen", "refine", "change", "locks", "off-core" or "unproved"
	Mostly        string      `json:"mostly"` // the term that most of the waiting is
	Unsure        bool        `json:"unsure"` // the limit lies within the bounds of the overhead
	Text          string      `json:"text"`
	Idle          []Charge    `json:"idle"` // what ran while threads were idle
	Overheads     []Charge    `json:"overheads"`
	LockWait      float64     `json:"lock_wait"` // on the wall
	Locks         []Charge    `json:"locks"`     // where the locks are given back that others wait for
}

// EffortParts are shares of the core time, by the account.
type EffortParts = analysis.EffortParts

// Charge is the time that a place answers for.
type Charge struct {
	Place
	Loop    bool    `json:"loop"` // spent in the loop whose test is here
	Runtime string  `json:"runtime,omitempty"`
	Time    float64 `json:"time"`
	Share   float64 `json:"share"`           // of all the idleness, or overhead
	Least   float64 `json:"least,omitempty"` // of idleness: the lower 95 % bound of that
	Path    []Frame `json:"call_path"`
}

func effort(e *analysis.Effort) *Effort {
	if e == nil {
		return nil
	}
	return &Effort{
		Threads: e.Width, Work: e.Work, Overhead: e.Overhead, Idleness: e.Idleness, WorkShare: ratio(e.Work, e.Work+e.Overhead+e.Idleness),
		OverheadShare: interval(e.OverheadShare), IdlenessShare: interval(e.IdlenessShare), Of: e.Of, Bounds: interval(e.Bounds), Limit: e.Limit,
		Advice: e.Advice, Mostly: e.Mostly, Unsure: e.Unsure, Text: adviceWords(e), Idle: convert(e.Idle, charge), Overheads: convert(e.Overheads, charge),
		LockWait: e.LockWait, Locks: convert(e.Locks, charge),
	}
}

func charge(c *analysis.Charge) Charge {
	return Charge{Place: place(&c.Place), Loop: c.Loop, Runtime: c.Runtime, Time: c.Time, Share: c.Share, Least: c.Least,
		Path: convert(c.Path, func(f *analysis.Frame) Frame { return Frame(*f) })}
}

// adviceTexts says what each case means and what to do.
var adviceTexts = map[string]string{
	analysis.AdviceEffective: "Effectively parallel: the threads have work nearly all the time, and handing it out " +
		"costs little. Most of what is left to win lies in the work itself.",
	analysis.AdviceCoarsen: "Coarsen: much of what threads do is making, queueing and fetching " +
		"work. Give each task, chunk or locked step more to do, " +
		"for instance a cut-off below which a recursion makes no more tasks.",
	analysis.AdviceChange: "Change the strategy: threads have no work for much of the time, and handing it out is " +
		"expensive too. Smaller pieces would cost more overhead, " +
		"larger ones more waiting; the work has to be divided in another way.",
	analysis.AdviceLocks: "Most of the waiting is for locks: do less while they are held, take them less often, or divide " +
		"what they guard.",
	analysis.AdviceOffCore: "Most of the waiting is for what is outside of the program: threads sleep, read and write, or " +
		"have no core. Let them do that while others work, or do less of it.",
	analysis.AdviceUnproved: "Threads wait on the cores that there were, and nothing proves that to be the program's doing: with " +
		"a core for each thread, as the account above has it, next to no time is lost to waiting that is. " +
		"Too few cores, and other programs on them, make threads wait as well.",
}

// refineTexts are those of "refine", by what the waiting is.
var refineTexts = map[string]string{
	analysis.TermImbalance: "Refine: handing out work costs little, but threads wait for those who have more to do. Divide it " +
		"more evenly, or into smaller pieces that go to whoever is free.",
	analysis.TermSerial: "Refine: handing out work costs little, but for much of the time too few threads have any. Make " +
		"parallel what one of them does alone.",
	analysis.TermWait: "Refine: handing out work costs little, but threads wait for what others have to do first. Let these " +
		"do less before it, do it earlier, or share it.",
}

// adviceWords explains the advice with its figures.
func adviceWords(e *analysis.Effort) string {
	level := func(share float64) string {
		if share >= e.Limit {
			return "high"
		}
		return "low"
	}
	out := fmt.Sprintf("Waiting is %s and overhead is %s (high is %s of the time or more). ",
		level(e.Of.Waiting), level(e.Of.Overhead), percentShort(e.Limit))
	if e.Advice == analysis.AdviceRefine {
		out += refineTexts[e.Mostly]
	} else {
		out += adviceTexts[e.Advice]
	}
	if e.Advice != analysis.AdviceLocks && e.Of.Locks >= e.Limit {
		out += fmt.Sprintf(" %s is waiting for locks: do less while they are held, or divide what they guard.", unit.Percent(e.Of.Locks))
	}
	if e.Unsure {
		out += " The samples are too few to be sure on which side of the limit overhead is."
	}
	return out
}

func percentShort(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }

// effort prints it.
func (p *printer) effort(r *Report) {
	e := r.Effort
	if e == nil {
		return
	}
	p.blank()
	p.rule("Effort of " + countOf(e.Threads, "thread"))
	for _, row := range e.rows() {
		b, w := bar(row.Share, 30)
		p.line("  %s %s %s%s %s", fit(row.Label, 10), p.st.bold(right(unit.Percent(row.Share), 8)), p.st.accent(b),
			strings.Repeat(" ", 30-w), p.st.dim(row.Bounds))
	}
	p.para(0, e.Text)
	for _, l := range e.lists() {
		p.charges(&r.Program, l.Title, l.Rows)
	}
}

// chargeList is a list of charges under a title.
type chargeList struct {
	Title string
	Rows  []Charge
}

// leastTold is the share of the effort that is worth a list.
const leastTold = 0.01

func (e *Effort) lists() (out []chargeList) {
	if e.IdlenessShare.Value >= leastTold && len(e.Idle) > 0 {
		out = append(out, chargeList{"What ran while threads were idle", e.Idle})
	}
	if e.OverheadShare.Value >= leastTold && len(e.Overheads) > 0 {
		out = append(out, chargeList{"Where the overhead is made", e.Overheads})
	}
	if len(e.Locks) > 0 && e.LockWait >= leastTold*(e.Work+e.Overhead+e.Idleness) {
		out = append(out, chargeList{"Where the locks are given back that others wait for (time waited)", e.Locks})
	}
	return out
}

// pageEffort is what the page's template shows.
type pageEffort struct {
	*Effort
	Rows  []effortRow
	Lists []chargeList
}

func newPageEffort(e *Effort) *pageEffort {
	if e == nil {
		return nil
	}
	return &pageEffort{e, e.rows(), e.lists()}
}

// effortRow is a share of the effort.
type effortRow struct {
	Label  string
	Share  float64
	Bounds string
}

func (e *Effort) rows() []effortRow {
	bounds := fmt.Sprintf("%s to %s", unit.Percent(e.Bounds.Low), unit.Percent(e.Bounds.High))
	rows := []effortRow{{"work", e.Of.Work, ""}, {"overhead", e.Of.Overhead, bounds}, {"waiting", e.Of.Waiting, ""}}
	if e.Of.Unproved >= leastShown {
		rows = append(rows, effortRow{"not proved", e.Of.Unproved, ""})
	}
	return rows
}

func (p *printer) charges(g *Program, title string, list []Charge) {
	p.line("%s", p.st.bold(title+":"))
	for i := range list {
		c := &list[i]
		p.line("  %s %s  %s", p.st.bold(right(unit.Percent(c.Share), 8)), right(g.Short(c.Time), 8),
			p.st.place(cutPlace(clean(c.Words()), p.wide()-21)))
	}
}

// Words names the place that is charged.
func (c *Charge) Words() string {
	out := c.Place.String()
	switch {
	case c.unknown() && c.Runtime == "":
		return "outside of the program's own code"
	case c.unknown():
		out = "the runtime's own threads"
	case c.Loop:
		out = "loop at " + out
	}
	if c.Runtime != "" {
		out += ": " + c.Runtime
	}
	return out
}
