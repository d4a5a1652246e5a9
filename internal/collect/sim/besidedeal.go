// Work that is dealt out to whoever comes first, where threads run in parallel. Each piece is
// counted exactly; who gets it is chance: a thread to which the host gives its core for longer gets
// more of them. What that makes of the threads' times is no cause: how even they would be is worked
// out from the pieces, given to whoever is free first by the clock (besidereplay.go).

package sim

import (
	"cmp"
	"math"
	"slices"

	"lime/internal/section"
)

// deal is something that a thread does about pieces of work.
type deal struct {
	turn uint64 // the how manieth of all that came
	at   uint64 // by its clock
	kind dealKind
	more int // so many more have been joined with it
}

type dealKind uint8

const (
	dealComes  dealKind = iota // for the next piece of a loop; the one that it had is done
	dealBegins                 // a task
	dealEnds                   // it has done the task
	dealMakes                  // a task, for whoever comes
	dealWaits                  // for tasks, and does some meanwhile
	dealGoesOn                 // with its own work
)

// mostDeals is how many pieces a thread's part is told apart in; of more, some that follow one another
// count as one, which makes them larger, and the threads less even than they would be.
const mostDeals = 4096

// dealList is what a thread did about pieces, in order.
type dealList struct {
	all   []deal
	each  int // so many pieces may count as one; 0: one
	full  int // deals that are not too many; 0: mostDeals
	begun int // the last task's index
}

func (l *dealList) add(d deal) {
	l.put(d)
	if len(l.all) < max(l.full, mostDeals) {
		return
	}
	all := l.all
	*l = dealList{each: 2 * max(1, l.each)}
	for _, d := range all {
		l.put(d)
	}
	l.full = 2 * len(l.all) // some cannot be joined
}

// follow puts deals before the list's own.
func (l *dealList) follow(before []deal) {
	if len(before) == 0 {
		return
	}
	own := l.all
	*l = dealList{}
	for _, d := range slices.Concat(before, own) {
		l.add(d)
	}
}

func (l *dealList) put(d deal) {
	if l.joins(&d) {
		return
	}
	if d.kind == dealBegins {
		l.begun = len(l.all)
	}
	l.all = append(l.all, d)
}

// joins makes one of two pieces of a loop, or of two tasks that are done one after the other. Of two
// tasks that are made one after the other, both are there when the second is. It is false if that
// cannot be, or would be too many.
func (l *dealList) joins(d *deal) bool {
	n := len(l.all)
	if n == 0 {
		return false
	}
	last := &l.all[n-1]
	before, follows := last, last.kind == d.kind && (d.kind == dealComes || d.kind == dealMakes)
	if d.kind == dealBegins {
		before, follows = &l.all[l.begun], last.kind == dealEnds
	}
	if !follows || before.more+d.more+2 > l.each {
		return false
	}
	before.more += d.more + 1
	switch d.kind {
	case dealMakes:
		before.turn, before.at = d.turn, d.at
	case dealBegins:
		l.all = l.all[:n-1]
	}
	return true
}

// dealer notes who comes for which piece of work.
type dealer struct {
	turns uint64
}

func newDealer(b *beside) *dealer {
	if b == nil {
		return nil
	}
	return &dealer{}
}

// notes may be called on none: then nothing is to be done.
func (d *dealer) notes(t *thread, kind dealKind) {
	if d == nil {
		return
	}
	d.turns++
	t.deals.add(deal{turn: d.turns, at: t.now(), kind: kind})
}

// spell is a piece of work, or what a thread does between two of them.
type spell struct {
	turn, length uint64
	piece        bool
	tasks        int // as a piece, so many
	made         []madeTasks
	after        bool // it is no piece, and follows tasks for which the thread has waited
}

// madeTasks are made by who has done so much of a spell.
type madeTasks struct {
	at uint64
	n  int
}

// bout is what a thread did in a part: first its own work.
type bout struct {
	time   uint64 // of the part
	spells []spell
}

// heldDeal is a deal in a part; away, if the thread did the task at the end of the section, where
// its clock goes on while it is idle.
type heldDeal struct {
	deal
	away bool
}

func dealsOf(p *section.Part) (all []heldDeal) {
	start, came := uint64(p.Start), uint64(p.Came)
	for _, span := range p.Spans {
		s := span.(*segment)
		for _, d := range s.deals {
			if s.task || d.at >= start && d.at <= came {
				all = append(all, heldDeal{d, s.task})
			}
		}
	}
	slices.SortFunc(all, func(a, b heldDeal) int { return cmp.Compare(a.turn, b.turn) })
	return all
}

// boutReader cuts a part into spells.
type boutReader struct {
	bout
	now   spell
	from  uint64 // the clock at which that began
	depth int    // of tasks
	waits bool   // it is only for tasks that it stays where it is
	rest  int    // which spell lasts until the thread came to the section's end, -1 if that is not known yet
}

func boutOf(p *section.Part) bout {
	r := boutReader{bout: bout{time: uint64(p.Time())}, from: uint64(p.Start), rest: -1}
	for _, d := range dealsOf(p) {
		r.add(d)
	}
	if r.depth == 0 { // after the last piece of a loop, too, it was told that nothing is left
		r.now.piece, r.now.tasks = false, 0
	}
	r.now.turn = math.MaxUint64 // behind all others'
	r.close(uint64(p.Came), true)
	sum := uint64(0)
	for i := range r.spells {
		sum += r.spells[i].length
	}
	if r.rest >= 0 {
		r.spells[r.rest].length = r.time - min(r.time, sum)
	}
	return r.bout
}

func (r *boutReader) add(d heldDeal) {
	switch d.kind {
	case dealComes:
		if r.depth == 0 {
			r.close(d.at, d.away)
			r.now.turn, r.now.piece = d.turn, true
		}
	case dealBegins:
		if r.depth == 0 {
			r.close(d.at, d.away)
			r.now.turn, r.now.piece = d.turn, true
		}
		r.depth++
		r.now.tasks += 1 + d.more
	case dealEnds:
		if r.depth = max(0, r.depth-1); r.depth == 0 {
			r.close(d.at, d.away)
			r.now.turn = d.turn
		}
	case dealWaits, dealGoesOn:
		if r.depth == 0 {
			r.close(d.at, d.away)
			r.waits = d.kind == dealWaits
			r.now.turn, r.now.after = d.turn, !r.waits
		}
	case dealMakes:
		r.now.made = append(r.now.made, madeTasks{d.at - min(r.from, d.at), 1 + d.more})
	}
}

// close ends the spell under way. Where the thread was on its way to the section's end, or is
// there, the clock does not say how long it has worked.
func (r *boutReader) close(at uint64, away bool) {
	switch {
	case r.waits && !r.now.piece:
	case r.now.piece || !away:
		r.now.length = at - min(r.from, at)
	case r.rest < 0:
		r.rest = len(r.spells)
	}
	r.spells = append(r.spells, r.now)
	r.now, r.from = spell{}, at
}

// dealt reports whether it came for work, and for tasks.
func (x *bout) dealt() (any, tasks bool) {
	for i := range x.spells {
		any, tasks = any || i > 0, tasks || x.spells[i].tasks > 0
	}
	return any, tasks
}

// chance is by how much less the last thread would be later than the mean, were the pieces given to
// whoever is free first.
func chance(parts []section.Part) uint64 {
	var bouts []bout
	some, sum, last := false, uint64(0), uint64(0)
	for i := range parts {
		x := boutOf(&parts[i])
		any, _ := x.dealt()
		some, sum, last = some || any, sum+x.time, max(last, x.time)
		bouts = append(bouts, x)
	}
	if !some || len(bouts) < 2 {
		return 0
	}
	lead, mean := last, sum/uint64(len(bouts))
	lead -= mean
	fair := slices.Max(dealtFairly(bouts))
	return lead - min(lead, fair-min(fair, mean))
}
