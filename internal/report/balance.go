package report

import (
	"fmt"
	"slices"

	"lime/internal/analysis"
	"lime/internal/unit"
)

// Balance is the innermost part of the program around a section's end outside of which the threads'
// times are even.
type Balance struct {
	Context
	Around  []Context       `json:"around"` // outermost first
	Threads []BalanceThread `json:"threads"`
	Parts   []BalancePart   `json:"parts"` // what is uneven inside of it, the most first
	Text    string          `json:"text"`
}

// Context is a loop, one way of a branch, a call, or all that a thread does.
type Context struct {
	Place
	Kind   string `json:"kind"` // "loop", "branch", "call", "visit" or "thread"
	Callee string `json:"callee,omitempty"`
}

// BalanceThread is a thread's work inside of the balance point and its wait at the section's end.
type BalanceThread struct {
	Thread int     `json:"thread"`
	Name   string  `json:"name,omitempty"`
	Time   float64 `json:"time"`
	Wait   float64 `json:"wait"`
}

// BalancePart is a part of the balance point that is uneven.
type BalancePart struct {
	Context
	Share float64   `json:"share"` // of the section's unevenness
	Times []float64 `json:"times"` // by thread
}

func balance(b *analysis.Balance) *Balance {
	if b == nil {
		return nil
	}
	out := &Balance{
		Context: contextOf(&b.Context), Around: convert(b.Around, contextOf),
		Threads: convert(b.Threads, func(t *analysis.BalanceThread) BalanceThread {
			return BalanceThread{int(t.Thread), t.Name, t.Time, t.Wait}
		}),
		Parts: convert(b.Parts, func(p *analysis.BalancePart) BalancePart { return BalancePart{contextOf(&p.Context), p.Share, p.Times} }),
	}
	out.Text = out.sentence()
	return out
}

func contextOf(c *analysis.Context) Context {
	return Context{Place: place(&c.Place), Kind: c.Kind, Callee: c.Callee}
}

// words names a part of the program.
func (c *Context) words() string {
	switch {
	case c.Kind == analysis.ContextThread:
		return "all that the threads do"
	case c.Callee != "":
		return "call of " + c.Callee + " at " + c.Short()
	case c.Kind == analysis.EventVisit:
		return c.String()
	}
	return c.Kind + " at " + c.String()
}

func (b *Balance) sentence() string {
	if b.Kind == analysis.ContextThread {
		return "Balance point: no part of the program around the end of the section is even outside; what is uneven, " +
			"and the wait for it, lie in all that the threads do."
	}
	return fmt.Sprintf("Balance point: the %s. Outside of it the threads' times are even; what is uneven, and the "+
		"wait for it, lie inside.", b.words())
}

// values are those of the balance point itself, for charts.
func (b *Balance) values() *threadValues {
	v := &threadValues{note: " in the " + b.words()}
	if b.Kind == analysis.ContextThread {
		v.note = " in the section"
	}
	for _, t := range b.Threads {
		v.threads, v.time, v.wait = append(v.threads, t.Thread), append(v.time, t.Time), append(v.wait, t.Wait)
	}
	return v
}

// scatter draws the time in each uneven part as a dot for every thread.
func (b *Balance) scatter(g *Program) []*plot {
	if len(b.Threads) == 0 {
		return nil
	}
	var out []*plot
	v := b.values()
	for i := range b.Parts {
		part := &b.Parts[i]
		lo, hi := slices.Min(part.Times), slices.Max(part.Times)
		p := v.plot(unit.Percent(part.Share)+" of the unevenness: "+part.words(), "count")
		p.Low, p.Range = true, g.Short(lo)+" to "+g.Quantity(hi)
		p.Summary = fmt.Sprintf("Time by thread in the %s, from %s to %s.", part.words(), g.Quantity(lo), g.Quantity(hi))
		for k, t := range part.Times {
			p.Bars = append(p.Bars, newDot(k, ratio(t, hi), fmt.Sprintf("thread %d: %s", b.Threads[k].Thread, g.Quantity(t))))
		}
		v.rank(p)
		out = append(out, p)
	}
	return out
}

// balance prints it below the threads' times.
func (p *printer) balance(r *Report, s *Section) {
	b := s.Balance
	if b == nil || len(b.Parts) == 0 {
		return
	}
	p.blank()
	p.para(0, b.Text)
	for i := range b.Parts {
		part := &b.Parts[i]
		p.line("  %s  %s", p.st.bold(right(unit.Percent(part.Share), 8)), p.st.place(cutPlace(clean(part.words()), p.wide()-12)))
		p.sparkRow("", part.Times, "", r.Program.Short)
	}
}
