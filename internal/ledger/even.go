package ledger

import (
	"fmt"
	"slices"
	"strings"

	"lime/internal/profile"
)

// Target names the places to even out: a source line, or an instruction.
type Target struct {
	File string // as in the profile, or its last parts ("fft.c", "src/fft.c"); "" with Addr
	Line int32
	Addr uint64 // of the deciding instruction, 0 if a line is given
}

// Evened is what a section would be if every thread did at some places what the threads do there on
// average.
type Evened struct {
	Targets   []Target      `json:"targets"`
	Rows      int           `json:"rows"` // places that the target matched, over all instances
	Before    Balance       `json:"before"`
	After     Balance       `json:"after"`
	Instances []EvenedTimes `json:"instances"`
}

// Balance is a section's time, summed over its instances.
type Balance struct {
	TMax      float64 `json:"t_max"`
	Mean      float64 `json:"mean"`
	Imbalance float64 `json:"imbalance"` // 1 - Mean/TMax
}

func (b *Balance) add(times []float64) {
	top, all := 0.0, 0.0
	for _, t := range times {
		top, all = max(top, t), all+t
	}
	b.TMax += top
	b.Mean += all / float64(len(times))
}

func (b *Balance) close() { b.Imbalance = share(b.TMax-b.Mean, b.TMax) }

// EvenedTimes are the times of one instance's threads, before and after.
type EvenedTimes struct {
	Seq     int                `json:"seq"`
	Threads []profile.ThreadID `json:"threads"`
	Before  []float64          `json:"before"`
	After   []float64          `json:"after"`
}

// Even predicts the section with the target evened out: from every thread's time goes what the
// account charges it with there. The mean stays, as a row sums to nil over the threads; the
// imbalance is recomputed, so that another thread may come last. It is a prediction to first order:
// what the decision does to later ones stays as it was.
func (l *Ledger) Even(id profile.SectionID, ts []Target, workers int) (*Evened, error) {
	if id < 0 || int(id) >= len(l.tab.Sections) {
		return nil, fmt.Errorf("ledger: section %d of %d", id, len(l.tab.Sections))
	}
	ev := &Evened{Targets: ts}
	b, err := l.booked(id, workers)
	if err != nil {
		return nil, fmt.Errorf("ledger: section %d: %w", id, err)
	}
	m := b.matcher(ts)
	err = l.each(id, workers, func(r *result) error {
		ev.enter(r, m)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("ledger: section %d: %w", id, err)
	}
	if ev.Rows == 0 {
		return nil, fmt.Errorf("ledger: section %d: no decision and no price differs between the threads at %s; "+
			"name a line that the account lists", id, targetWords(ts))
	}
	ev.Before.close()
	ev.After.close()
	return ev, nil
}

// String is the target as people write it.
func (t Target) String() string {
	if t.File == "" {
		return fmt.Sprintf("%#x", t.Addr)
	}
	return fmt.Sprintf("%s:%d", t.File, t.Line)
}

func (e *Evened) enter(r *result, match func(*charge) bool) {
	times := EvenedTimes{Seq: r.flow.inst.Seq, Before: r.times, After: append([]float64(nil), r.times...)}
	for i := range r.flow.inst.Parts {
		times.Threads = append(times.Threads, r.flow.inst.Parts[i].Thread)
	}
	for i := range r.charges {
		c := &r.charges[i]
		if !match(c) {
			continue
		}
		e.Rows++
		for p, x := range c.dev {
			times.After[p] -= x
		}
	}
	for p, x := range times.After { // only now: what is taken together may be many times as large as what is left of it
		times.After[p] = max(0, x)
	}
	e.Before.add(times.Before)
	e.After.add(times.After)
	e.Instances = append(e.Instances, times)
}

// matcher says which charges are of a target: those of the rows that the account lists there, with
// all that was taken together with them and what libraries did for that line; if it lists none,
// those that stand there themselves.
func (b *book) matcher(ts []Target) func(*charge) bool {
	var themselves []func(*charge) bool
	chosen := map[member]bool{}
	take := func(e *entry) {
		for m := range b.membersOf(e) {
			chosen[m.member] = true
		}
	}
	for _, t := range ts {
		listed := len(chosen)
		for _, e := range b.rows {
			if b.standsAt(e, t) {
				take(e)
				for _, n := range e.with {
					take(n.member)
				}
			}
		}
		if len(chosen) == listed {
			themselves = append(themselves, b.l.guide.matcher(t))
		}
	}
	return func(c *charge) bool {
		return chosen[member{c.class, c.id}] || slices.ContainsFunc(themselves, func(m func(*charge) bool) bool { return m(c) })
	}
}

// standsAt says whether the account lists a row at a target.
func (b *book) standsAt(e *entry, t Target) bool {
	if e.netted || len(e.threads) == 0 {
		return false
	}
	var row Row
	describer{b}.describe(&row, e, b.top(e))
	return row.Place.at(t)
}

func targetWords(ts []Target) string {
	words := make([]string, len(ts))
	for i, t := range ts {
		words[i] = t.String()
	}
	return strings.Join(words, ", ")
}

// at says whether a place is a target.
func (p *Place) at(t Target) bool {
	if t.File == "" {
		return p.Addr == t.Addr
	}
	return p.Line == t.Line && profile.SameFile(p.File, t.File)
}

// matcher says which charges stand at a target.
func (g *guide) matcher(t Target) func(*charge) bool {
	return func(c *charge) bool {
		switch c.class {
		case classLock, classOff, classUnaccounted:
			return false
		case classEvent:
			e := &g.tab.Events[c.id]
			frames := e.Frames
			if len(frames) == 0 && valid(e.Node, len(g.tab.Nodes)) {
				frames = g.tab.Nodes[e.Node].Frames
			}
			return g.matches(t, e.Addr, frames)
		}
		n := &g.tab.Nodes[c.id]
		return g.matches(t, n.LastAddr, n.Frames)
	}
}

func (g *guide) matches(t Target, addr uint64, frames []profile.Frame) bool {
	if t.File == "" {
		return addr == t.Addr
	}
	return len(frames) > 0 && frames[0].Line == t.Line && profile.SameFile(g.file(frames[0].File), t.File)
}
