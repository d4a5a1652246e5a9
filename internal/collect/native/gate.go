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

// candidates are the gates of the program, each of which may be a barrier that it has built
// itself.
type candidates struct {
	operations *operations
	program    *program
	roster     *roster

	gates []*gate // by number
}

// A gate is code of the program's own in which its threads may wait for one another. What makes it
// a barrier is that nobody comes out before all have gone in: each thread's k-th coming belongs to
// round k, and once somebody has left that round nobody may come to it. When somebody comes for the
// second round, the gate is known. A lock or a queue fails that soon, and records nothing from then
// on.
type gate struct {
	number int
	object uint64
	state  gateState
	rounds map[*thread]int  // to which round everybody has come
	in     map[*thread]bool // who is inside
	opened int              // the last round that somebody has left
	since  uint64           // when the first round opened
	fails  int              // how often it was none of a barrier
	worked [2]uint64        // samples inside: of threads that wait, and of such that do something else
}

// gateState is what is known of a gate.
type gateState uint8

const (
	gateWatched gateState = iota // it may be a barrier
	gateKnown                    // it is one
	gateRefuted                  // it is none
)

// Limits of gates.
const (
	gateFails   = 3  // how often it may fail
	gateSamples = 20 // so many samples tell whether threads work inside
)

func newGate(number int) *gate {
	return &gate{number: number, object: threads.Candidate | uint64(number), rounds: map[*thread]int{}, in: map[*thread]bool{}}
}

// comes notes that a thread comes in. Where that does not fit, the gate begins anew.
func (g *gate) comes(t *thread) {
	fits := g.rounds[t] >= g.opened
	if !fits {
		g.fail()
	}
	g.rounds[t]++
	g.in[t] = true
	if g.state == gateWatched && fits && g.rounds[t] == 2 && len(g.rounds) > 1 {
		g.state = gateKnown
	}
}

// goes notes that a thread goes out. All must have come by then.
func (g *gate) goes(t *thread, at uint64) {
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
func (g *gate) fail() {
	g.state = gateWatched
	if g.fails++; g.fails > gateFails {
		g.state = gateRefuted
	}
	clear(g.rounds)
	g.opened = 0
	for t := range g.in {
		g.rounds[t] = 1
	}
}

// works reports whether the samples say that threads do more in it than wait.
func (g *gate) works() bool {
	return g.worked[1] >= gateSamples && g.worked[1]*4 > g.worked[0]
}

// gateOf is the gate that a record tells of, nil if it tells of none.
func (cd *candidates) gateOf(h *hook.Record) *gate {
	i := h.Func - len(cd.program.table)
	if i < 0 || i >= hook.MostGates {
		return nil
	}
	for i >= len(cd.gates) {
		cd.gates = append(cd.gates, newGate(len(cd.gates)))
	}
	return cd.gates[i]
}

// atGate takes the record of a gate.
func (cd *candidates) atGate(t *thread, g *gate, h *hook.Record, at uint64) {
	if g.state == gateRefuted || t.covered() && !t.within(g) {
		return
	}
	if g.in[t] { // also if the record of that was lost
		cd.outOfGate(t, g, at)
	}
	if h.Phase == hook.Return {
		return
	}
	was := g.state
	g.comes(t)
	switch {
	case g.state == was:
	case g.state == gateKnown:
		cd.allKnown(g, t, at)
	default:
		cd.unknown(g, at)
	}
	if g.state == gateWatched && cd.spent(g) {
		g.state = gateRefuted
		cd.unknown(g, at)
	}
	kind := section.OpPass
	switch g.state {
	case gateRefuted:
		return
	case gateKnown:
		kind = section.OpArrive
		t.push(call{role: known.Gate, sp: h.SP, object: g.object, gate: g})
	default:
		t.gate, t.gateSP = g, h.SP
	}
	op := cd.operations.arrival(t, kind, h, at, g.object)
	op.Built = true
	if p, ok := op.Span.(*piece); ok && cd.program.target(h.Func) == 0 && len(op.Site.Stack) > 0 {
		p.exit = op.Site.Stack
	}
	cd.operations.feed(op)
}

// beside reports whether the same threads have come to another gate, once each so far, and nothing
// speaks against its being a barrier.
func (g *gate) beside(q *gate) bool {
	if q == g || q.state != gateWatched || q.fails > 0 || q.opened != 1 || len(q.rounds) != len(g.rounds) {
		return false
	}
	for t := range g.rounds {
		if q.rounds[t] != 1 {
			return false
		}
	}
	return true
}

// allKnown: a gate is a barrier, so those are, too, to which the same threads have come meanwhile.
// t comes to it.
func (cd *candidates) allKnown(g *gate, t *thread, at uint64) {
	list := []*gate{g}
	for _, q := range cd.gates {
		if g.beside(q) {
			q.state = gateKnown
			list = append(list, q)
		}
	}
	slices.SortStableFunc(list, func(a, b *gate) int { return cmp.Compare(a.since, b.since) })
	for _, q := range list {
		cd.known(q, t, at)
	}
}

// known: the gate is a barrier, and some may be in it still.
func (cd *candidates) known(g *gate, t *thread, at uint64) {
	cd.allow(g, math.MaxInt32)
	cd.operations.feed(cd.gateOp(t, section.OpPassKnown, at, g))
	for _, q := range cd.roster.threads {
		if q != t && q.gate == g {
			q.gate = nil
			q.push(call{role: known.Gate, sp: q.gateSP, object: g.object, gate: g})
		}
	}
}

// unknown: the gate is no barrier, or it is not sure any more.
func (cd *candidates) unknown(g *gate, at uint64) {
	if g.state == gateRefuted {
		cd.allow(g, 0)
	}
	for _, q := range cd.roster.threads {
		switch {
		case q.ended:
		case q.within(g):
			cd.leaveGate(q, g, at)
		case q.gate == g && g.state == gateRefuted:
			q.gate = nil
		}
	}
}

// allow sets how many records the gate may still make.
func (cd *candidates) allow(g *gate, records int32) {
	if cd.program.ring != nil {
		cd.program.ring.Allow(g.number, records)
	}
}

// spent reports whether it may make no more.
func (cd *candidates) spent(g *gate) bool {
	return cd.program.ring != nil && cd.program.ring.Allowed(g.number) <= 0
}

func (cd *candidates) gateOp(t *thread, kind section.OpKind, at uint64, g *gate) section.Op {
	op := t.op(kind, at)
	op.Object = g.object
	return op
}

// outOfGate is a thread's way out.
func (cd *candidates) outOfGate(t *thread, g *gate, at uint64) {
	was := g.state
	g.goes(t, at)
	switch {
	case t.within(g):
		cd.leaveGate(t, g, at)
	case t.gate == g:
		t.gate = nil
		op, _ := cd.operations.cutOp(t, section.OpPassEnd, at)
		op.Object = g.object
		cd.operations.feed(op)
	}
	if g.state != was {
		cd.unknown(g, at)
	}
}

// leaveGate ends a thread's wait at a known gate.
func (cd *candidates) leaveGate(t *thread, g *gate, at uint64) {
	t.calls = t.calls[:len(t.calls)-1]
	cd.operations.feed(cd.gateOp(t, section.OpLeave, at, g))
	t.begin(at)
}

// within reports whether the thread waits at the gate, which is known.
func (t *thread) within(g *gate) bool {
	n := len(t.calls)
	return n > 0 && t.calls[n-1].gate == g
}

// sampledAtGate takes a sample of a thread inside of a gate.
func (cd *candidates) sampledAtGate(t *thread, x *item) {
	g := t.gate
	if t.gated() {
		g = t.calls[len(t.calls)-1].gate
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
		g.state = gateRefuted
		cd.unknown(g, x.at)
	}
}
