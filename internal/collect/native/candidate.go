package native

import (
	"cmp"
	"math"
	"slices"

	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/collect/threads"
	"lime/internal/section"
)

// candidates are pieces of code of the program's own, each of which may be a barrier.
type candidates struct {
	episodes   *episodes
	operations *operations
	program    *program
	roster     *roster

	list []*candidate // by number
}

// A candidate is code of the program's own in which its threads may wait for one another. What
// makes it a barrier is that nobody comes out before all have gone in: each thread's k-th coming
// belongs to round k, and once somebody has left that round nobody may come to it. When somebody
// comes for the second round, the candidate is known. A lock or a queue fails that soon, and
// records nothing from then on.
type candidate struct {
	number int
	object uint64
	state  candidateState
	rounds map[*thread]int  // to which round everybody has come
	in     map[*thread]bool // who is inside
	opened int              // the last round that somebody has left
	since  uint64           // when the first round opened
	fails  int              // how often it was none of a barrier
	worked [2]uint64        // samples inside: of threads that wait, and of such that do something else
}

// candidateState is what is known of a candidate.
type candidateState uint8

const (
	candidateWatched candidateState = iota // it may be a barrier
	candidateKnown                         // it is one
	candidateRefuted                       // it is none
)

// Limits of candidates.
const (
	candidateFails   = 3  // how often it may fail
	candidateSamples = 20 // so many samples tell whether threads work inside
)

func newCandidate(number int) *candidate {
	return &candidate{number: number, object: threads.Candidate | uint64(number), rounds: map[*thread]int{}, in: map[*thread]bool{}}
}

// comes notes that a thread comes in. Where that does not fit, the candidate begins anew.
func (g *candidate) comes(t *thread) {
	fits := g.rounds[t] >= g.opened
	if !fits {
		g.fail()
	}
	g.rounds[t]++
	g.in[t] = true
	if g.state == candidateWatched && fits && g.rounds[t] == 2 && len(g.rounds) > 1 {
		g.state = candidateKnown
	}
}

// goes notes that a thread goes out. All must have come by then.
func (g *candidate) goes(t *thread, at uint64) {
	delete(g.in, t)
	k := g.rounds[t]
	if g.opened == 0 {
		g.since = at
	}
	g.opened = max(g.opened, k)
	for x, n := range g.rounds {
		if n < k && !x.ended {
			g.fail()
			return
		}
	}
}

// fail begins anew: who is inside has come for the first round.
func (g *candidate) fail() {
	g.state = candidateWatched
	if g.fails++; g.fails > candidateFails {
		g.state = candidateRefuted
	}
	clear(g.rounds)
	g.opened = 0
	for t := range g.in {
		g.rounds[t] = 1
	}
}

// works reports whether the samples say that threads do more in it than wait.
func (g *candidate) works() bool {
	return g.worked[1] >= candidateSamples && g.worked[1]*4 > g.worked[0]
}

// candidateOf is the candidate that a record tells of, nil if it tells of none.
func (cd *candidates) candidateOf(h *hook.Record) *candidate {
	i := h.Func - len(cd.program.table)
	if i < 0 || i >= hook.MostCandidates {
		return nil
	}
	for i >= len(cd.list) {
		cd.list = append(cd.list, newCandidate(len(cd.list)))
	}
	return cd.list[i]
}

// atCandidate takes the record of a candidate.
func (cd *candidates) atCandidate(t *thread, g *candidate, h *hook.Record, at uint64) {
	if g.state == candidateRefuted || t.covered() && !t.within(g) {
		return
	}
	if g.in[t] { // also if the record of that was lost
		cd.outOfCandidate(t, g, at)
	}
	if h.Phase == hook.Return {
		return
	}
	was := g.state
	g.comes(t)
	switch {
	case g.state == was:
	case g.state == candidateKnown:
		cd.allKnown(g, t, at)
	default:
		cd.unknown(g, at)
	}
	if g.state == candidateWatched && cd.spent(g) {
		g.state = candidateRefuted
		cd.unknown(g, at)
	}
	kind := section.OpPass
	switch g.state {
	case candidateRefuted:
		return
	case candidateKnown:
		kind = section.OpArrive
		t.push(call{role: known.Gate, sp: h.SP, object: g.object, candidate: g})
	default:
		t.candidate, t.candidateSP = g, h.SP
	}
	op := cd.operations.arrival(t, kind, h, at, g.object)
	op.Built = true
	if p, ok := op.Span.(*piece); ok {
		if cd.program.target(h.Func) == 0 && len(op.Site.Stack) > 0 {
			p.exit = op.Site.Stack
		}
		if kind == section.OpArrive {
			cd.episodes.comes(t, p, g.object, at)
		}
	}
	cd.operations.feed(op)
}

// beside reports whether the same threads have come to another candidate, once each so far, and
// nothing speaks against its being a barrier.
func (g *candidate) beside(q *candidate) bool {
	if q == g || q.state != candidateWatched || q.fails > 0 || q.opened != 1 || len(q.rounds) != len(g.rounds) {
		return false
	}
	for t := range g.rounds {
		if q.rounds[t] != 1 {
			return false
		}
	}
	return true
}

// allKnown: a candidate is a barrier, so those are, too, to which the same threads have come
// meanwhile. t comes to it.
func (cd *candidates) allKnown(g *candidate, t *thread, at uint64) {
	list := []*candidate{g}
	for _, q := range cd.list {
		if g.beside(q) {
			q.state = candidateKnown
			list = append(list, q)
		}
	}
	slices.SortStableFunc(list, func(a, b *candidate) int { return cmp.Compare(a.since, b.since) })
	for _, q := range list {
		cd.known(q, t, at)
	}
}

// known: the candidate is a barrier, and some may be in it still.
func (cd *candidates) known(g *candidate, t *thread, at uint64) {
	cd.allow(g, math.MaxInt32)
	cd.operations.feed(cd.candidateOp(t, section.OpPassKnown, at, g))
	for _, q := range cd.roster.threads {
		if q != t && q.candidate == g {
			q.candidate = nil
			q.push(call{role: known.Gate, sp: q.candidateSP, object: g.object, candidate: g})
		}
	}
}

// unknown: the candidate is no barrier, or it is not sure any more.
func (cd *candidates) unknown(g *candidate, at uint64) {
	if g.state == candidateRefuted {
		cd.allow(g, 0)
	}
	for _, q := range cd.roster.threads {
		switch {
		case q.ended:
		case q.within(g):
			cd.leaveCandidate(q, g, at)
		case q.candidate == g && g.state == candidateRefuted:
			q.candidate = nil
		}
	}
}

// allow sets how many records the candidate may still make.
func (cd *candidates) allow(g *candidate, records int32) {
	if cd.program.ring != nil {
		cd.program.ring.Allow(g.number, records)
	}
}

// spent reports whether it may make no more.
func (cd *candidates) spent(g *candidate) bool {
	return cd.program.ring != nil && cd.program.ring.Allowed(g.number) <= 0
}

func (cd *candidates) candidateOp(t *thread, kind section.OpKind, at uint64, g *candidate) section.Op {
	op := t.op(kind, at)
	op.Object = g.object
	return op
}

// outOfCandidate is a thread's way out.
func (cd *candidates) outOfCandidate(t *thread, g *candidate, at uint64) {
	was := g.state
	g.goes(t, at)
	switch {
	case t.within(g):
		cd.leaveCandidate(t, g, at)
	case t.candidate == g:
		t.candidate = nil
		op, _ := cd.operations.cutOp(t, section.OpPassEnd, at)
		op.Object = g.object
		cd.operations.feed(op)
	}
	if g.state != was {
		cd.unknown(g, at)
	}
}

// leaveCandidate ends a thread's wait at a known candidate.
func (cd *candidates) leaveCandidate(t *thread, g *candidate, at uint64) {
	t.calls = t.calls[:len(t.calls)-1]
	cd.episodes.met(t, g.object)
	cd.operations.feed(cd.candidateOp(t, section.OpLeave, at, g))
	t.begin(at)
}

// within reports whether the thread waits at the candidate, which is known.
func (t *thread) within(g *candidate) bool {
	n := len(t.calls)
	return n > 0 && t.calls[n-1].candidate == g
}

// sampledAtCandidate takes a sample of a thread inside of a candidate.
func (cd *candidates) sampledAtCandidate(t *thread, x *item) {
	g := t.candidate
	if t.gated() {
		g = t.calls[len(t.calls)-1].candidate
	}
	if g == nil {
		return
	}
	if x.spins {
		g.worked[0]++
	} else {
		g.worked[1]++
	}
	if g.works() {
		g.state = candidateRefuted
		cd.unknown(g, x.at)
	}
}
