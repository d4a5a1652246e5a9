// Functions that are barriers, where threads run in parallel: who has come out may come again
// before the others have come out. That nobody came out before all had gone in may be chance, too,
// so it is tried: the last to come is kept outside for a while, and nobody may come out meanwhile.

package sim

import (
	"time"

	"lime/internal/unit"
)

// turns is how often threads have gone into a function that may be a barrier, and come out again.
// It is one if nobody comes out for the nth time before all have gone in for the nth time. Who was
// inside when the counting began may have come there once more than those who were not: it depends on
// whether all had come by then, and shows when somebody comes out more often than it has gone in.
type turns struct {
	in, out map[*thread]int
	exact   map[*thread]bool // who is known to have been counted each time; see comesOut
	held    int              // how often the last one was kept outside, and nobody came out
	last    map[*thread]bool // who that was
	tries   int              // the same, though perhaps nobody could
}

// The trial: a thread that is not at a barrier comes out of where it waits in much less time than
// gateRun, once it has a core, and by fewer instructions than it may do in a barrier besides
// waiting. Of its time some is lime's own.
const (
	candidateHolds = 2
	candidateLook  = 2 * time.Millisecond
	candidateLooks = 25 // of which each trial may take: who waits may have to wait for a core, too
	candidateTries = 8
	candidateRun   = unit.Nanos(200_000)
)

// goesIn notes that t goes into a function, which is found to be a barrier now if it is: t is the
// first to come for the next time.
func (b *beside) goesIn(g *candidate, t *thread) {
	if x := &g.turns; x.proved() && g.someIdle() && x.all(t, x.in[t]) {
		g.state = candidateKnown
		for o := range x.in {
			g.party[o] = true
		}
		g.round = map[*thread]bool{}
		return
	}
	if x := &g.turns; len(x.in) > 1 && x.in[t] > 0 && x.all(t, x.in[t]+1) {
		b.holds(g, t)
	}
	g.turns.in[t]++
	g.in[t], g.seen[t] = true, true
}

// someIdle reports whether somebody has come through and done next to nothing in it but wait: of the
// others it is not known how much of what they did was waiting.
func (g *candidate) someIdle() bool {
	for _, idle := range g.idle {
		if idle {
			return true
		}
	}
	return false
}

// holds keeps t outside, the last to come, until the others have had time to come out.
func (b *beside) holds(g *candidate, t *thread) {
	x := &g.turns
	if x.tries++; x.tries > candidateTries {
		b.r.barriers.refute(g)
		return
	}
	others := map[*thread]*tried{}
	for o := range x.in {
		if o != t && !o.gone && !o.ended {
			others[o] = &tried{cpu: b.cpuTime(o), ticket: o.host.ticket}
		}
	}
	b.away(t) // its core goes to those who are to come out
	for range candidateLooks {
		b.outside(func() { time.Sleep(candidateLook) })
		if g.state != candidateWatched || !x.all(t, x.in[t]+1) { // somebody has come out
			return
		}
		idle := false
		for o, s := range others {
			idle = !s.hard(b, o) || idle
		}
		if !idle {
			x.held++
			x.last[t] = true
			return
		}
	}
}

// proved reports whether the trials suffice. Where threads go on in turn, the first of them can be kept
// outside as often as one likes, and nobody comes out: one and the same thread has to be the last more
// often.
func (x *turns) proved() bool {
	return x.held >= candidateHolds && len(x.last) > 1 || x.held >= 2*candidateHolds
}

// tried is where a thread stood when a trial began.
type tried struct {
	cpu    unit.Nanos
	ticket uint64 // of its turn
	seen   bool   // it has been out of its code since
	from   uint64 // the instructions that it had executed then
	yields int    // how often it had given its core away
}

// hard reports whether o has had its chance to come out of where it waits: it has looked, and
// has looked again. How far it is shows when it is called out of its code. Who has ended meanwhile is
// not in there.
func (s *tried) hard(b *beside, o *thread) bool {
	if o.blocked || o.ctx == nil {
		return true
	}
	if !s.seen && o.host.ticket != s.ticket {
		s.seen, s.from, s.yields = true, b.r.eng.Retired(o.ctx), o.host.yields
	}
	if b.cpuTime(o) >= s.cpu+candidateRun && s.seen && (b.r.eng.Retired(o.ctx) >= s.from+candidateLength || o.host.yields > s.yields+1) {
		return true
	}
	if b.runs(o) {
		b.r.eng.Call(o.ctx)
	}
	return false
}

// all reports whether all others than t have gone in n times.
func (x *turns) all(t *thread, n int) bool {
	for o, k := range x.in {
		if o != t && k != n && !o.gone && !o.ended {
			return false
		}
	}
	return len(x.in) > 1
}

// comesOut notes that t comes out.
func (b *beside) comesOut(g *candidate, t *thread) {
	if b == nil || g.state != candidateWatched || g.turns.in[t] == g.turns.out[t] { // it went in before this was watched
		return
	}
	if !g.turns.comesOut(t, g.in) {
		g.early = true
		b.r.barriers.refute(g)
	}
}

// newTurns begins to count; some are known to be outside.
func newTurns(outside map[*thread]bool) turns {
	return turns{in: map[*thread]int{}, out: map[*thread]int{}, exact: outside, last: map[*thread]bool{}}
}

// comesOut counts that t comes out, while some are inside; false if somebody has not gone in as
// often.
func (x *turns) comesOut(t *thread, inside map[*thread]bool) bool {
	x.out[t]++
	n := x.out[t]
	for o, k := range x.in {
		switch {
		case o == t || o.gone || o.ended:
		case k >= n:
			x.exact[t] = x.exact[t] || k == n && x.exact[o] // else t would have come out before o went in
		case x.exact[o]:
			return false
		default:
			x.exact[o], x.in[o], x.out[o] = true, n, n
			if inside[o] {
				x.out[o]--
			}
		}
	}
	return true
}
