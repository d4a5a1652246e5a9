package report

import (
	"fmt"
	"strings"

	"lime/internal/analysis"
	"lime/internal/unit"
)

// Effort is what the threads that the program can keep busy did with their time: worked, made and
// moved work about (overhead), or had none (idleness).
type Effort struct {
	Threads       int      `json:"threads"`
	Work          float64  `json:"work"`
	Overhead      float64  `json:"overhead"`
	Idleness      float64  `json:"idleness"`
	WorkShare     float64  `json:"work_share"` // of the three together
	OverheadShare Interval `json:"overhead_share"`
	IdlenessShare Interval `json:"idleness_share"`
	Limit         float64  `json:"limit"`  // a share from which overhead, or idleness, is high
	Advice        string   `json:"advice"` // "effective", "coarsen", "refine", "change" or "unproved"
	Unsure        bool     `json:"unsure"` // the limit lies within a share's bounds
	Text          string   `json:"text"`
	Idle          []Charge `json:"idle"` // what ran while threads were idle
	Overheads     []Charge `json:"overheads"`
	LockWait      float64  `json:"lock_wait"` // on the wall
	Locks         []Charge `json:"locks"`     // where the locks are given back that others wait for
}

// Charge is the time that a place answers for.
type Charge struct {
	Place
	Loop    bool    `json:"loop"` // spent in the loop whose test is here
	Runtime string  `json:"runtime,omitempty"`
	Time    float64 `json:"time"`
	Share   float64 `json:"share"` // of all the idleness, or overhead
	Path    []Frame `json:"call_path"`
}

func effort(e *analysis.Effort) *Effort {
	if e == nil {
		return nil
	}
	return &Effort{
		Threads: e.Width, Work: e.Work, Overhead: e.Overhead, Idleness: e.Idleness, WorkShare: ratio(e.Work, e.Work+e.Overhead+e.Idleness),
		OverheadShare: interval(e.OverheadShare), IdlenessShare: interval(e.IdlenessShare), Limit: e.Limit,
		Advice: e.Advice, Unsure: e.Unsure, Text: adviceWords(e), Idle: convert(e.Idle, charge), Overheads: convert(e.Overheads, charge),
		LockWait: e.LockWait, Locks: convert(e.Locks, charge),
	}
}

func charge(c *analysis.Charge) Charge {
	return Charge{Place: place(&c.Place), Loop: c.Loop, Runtime: c.Runtime, Time: c.Time, Share: c.Share,
		Path: convert(c.Path, func(f *analysis.Frame) Frame { return Frame(*f) })}
}

// adviceTexts says what each of the four cases means and what to do.
var adviceTexts = map[string]string{
	analysis.AdviceEffective: "Effectively parallel: the threads have work nearly all the time, and handing it out " +
		"costs little. What is left to win lies in the work itself.",
	analysis.AdviceCoarsen: "Coarsen: the threads are busy, but much of what they do is making, queueing and fetching " +
		"work. Give each task, chunk or locked step more to do, " +
		"for instance a cut-off below which a recursion makes no more tasks.",
	analysis.AdviceRefine: "Refine: handing out work costs little, but threads have none for much of the time. Cut it " +
		"into more and smaller pieces, or make parallel " +
		"what ran while they waited.",
	analysis.AdviceChange: "Change the strategy: threads have no work for much of the time, and handing it out is " +
		"expensive too. Smaller pieces would cost more overhead, " +
		"larger ones more idleness; the work has to be divided in another way.",
	analysis.AdviceUnproved: "Nothing proves that to be the program's: with a core for each thread, as the account above has it, next " +
		"to no time is lost to waiting. Too few cores, and other programs on them, make threads idle as well.",
}

// adviceWords explains the advice with its figures.
func adviceWords(e *analysis.Effort) string {
	level := func(i analysis.Interval) string {
		if i.Value >= e.Limit {
			return "high"
		}
		return "low"
	}
	out := fmt.Sprintf("Idleness is %s and overhead is %s (high is %s of the effort or more). ",
		level(e.IdlenessShare), level(e.OverheadShare), percentShort(e.Limit))
	out += adviceTexts[e.Advice]
	if locksMatter(e) {
		out += " Much of the idleness is waiting for locks: do less while they are held, or divide what they guard."
	}
	if e.Unsure {
		out += " The samples are too few to be sure on which side of the limit it is."
	}
	return out
}

// locksMatter tells whether idleness is high, and waits for locks are a large part of it.
func locksMatter(e *analysis.Effort) bool {
	const much = 0.3
	return e.IdlenessShare.Value >= e.Limit && e.LockWait >= much*e.Idleness
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
		p.line("  %s %s %s%s %s", fit(row.Label, 9), p.st.bold(right(unit.Percent(row.Share), 8)), p.st.accent(b),
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
	bounds := func(i Interval) string {
		return fmt.Sprintf("%s to %s", unit.Percent(i.Low), unit.Percent(i.High))
	}
	return []effortRow{{"work", e.WorkShare, ""}, {"overhead", e.OverheadShare.Value, bounds(e.OverheadShare)},
		{"idleness", e.IdlenessShare.Value, bounds(e.IdlenessShare)}}
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
