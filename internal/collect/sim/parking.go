// Threads that spin are taken out of the others' way.

package sim

import (
	"lime/internal/engine"
	"lime/internal/section"
	"lime/internal/unit"
)

// Spinning is waiting: a thread that is proved to go round a loop until memory changes (package
// spin) is taken out of the others' way until that happens.

// parking takes threads that spin out of the others' way.
type parking struct {
	handed     map[uint64]bool // by the program's own place: what threads wait for there is handed from one to the next
	barriers   *barriers
	counting   *counting
	loops      *loops
	operations *operations
	passPoints *passPoints
	passes     *passes
	places     *places
	roster     *roster
	rounds     *rounds
	spinners   *spinners
	segments   *segments
	eng        *engine.Engine
	images     *images
	cores      *cores
	beside     *beside
	queues     *queues
	end        *end
}

// Limits of the search for spin loops.
const (
	maxSkip    = 12 // log2 of the slices for which a loop that failed is let alone
	otherSkip  = 1  // the same, when it has gone on to another loop
	longSearch = 4  // every so many searches that failed, one follows rounds of any length
)

// sysSchedYield is the number of sched_yield (syscall_64.tbl).
const sysSchedYield = 24

// stillness is how a thread looked when its last slices ended.
type stillness struct {
	pc      uint64
	lo, hi  uint64 // the loop that was looked at last, in vain
	fails   uint
	skip    int
	yield   uint64 // where it last gave its core away, so many times in a row
	yields  int
	suspect bool // it has just passed a point behind which threads spin
}

// nearby is how far a spinning thread can be from where it was a slice before.
const nearby = 1 << 10

// looksStill is asked when a slice is used up: if the thread has not moved from
// where it was, it may be spinning.
func (pk *parking) looksStill(t *thread) {
	if t.blocked || t.core == nil || pk.counting.over() {
		return
	}
	q := &t.still
	near := t.ctx.RIP-q.pc+nearby < 2*nearby
	q.pc = t.ctx.RIP
	inVain := q.lo <= q.pc && q.pc <= q.hi
	if !inVain { // another loop than the one that was looked at in vain
		q.skip = min(q.skip, 1<<otherSkip)
	}
	suspect := q.suspect
	q.suspect = false
	switch {
	case suspect && !inVain:
	case !near && !suspect:
		q.fails, q.yields = 0, 0
		return
	case q.skip > 0:
		q.skip--
		return
	}
	pk.tryPark(t)
}

// yieldStill is asked when a thread yields: many do so in a loop until memory changes.
func (pk *parking) yieldStill(t *thread) {
	if t.core == nil {
		return
	}
	q := &t.still
	if q.yield != t.ctx.RIP {
		q.yield, q.yields = t.ctx.RIP, 0
	}
	if q.yields++; q.yields%4 == 0 {
		pk.tryPark(t)
	}
}

// tryPark follows the thread round its loop, and takes it out of the others' way if it waits there.
func (pk *parking) tryPark(t *thread) {
	if len(pk.roster.byGuest) < 2 || pk.places.schedulerSpins(t) {
		return
	}
	if pk.beside != nil {
		if !t.covered() { // else what it does is waiting anyway
			pk.beside.seeks(t)
		}
		return
	}
	from := t.now()
	l := pk.loops.search(t)
	if pk.end.over || t.blocked || t.gone || t.core == nil {
		return
	}
	if l != nil {
		s := pk.loops.spinner(t, l, from)
		if s != nil && pk.loops.goesTo(t, pk.loops.place(s), pk.loops.follow.Steps()) {
			if pk.pays(s) {
				t.still.lo, t.still.hi, t.still.fails, t.still.skip = 0, 0, 0, 0
				pk.park(s)
				return
			}
			s.lapses()
		}
	}
	pk.inVain(t)
}

// inVain lets a thread alone for a while whose loop is not proved to wait.
func (pk *parking) inVain(t *thread) {
	q := &t.still
	if q.pc < q.lo || q.pc > q.hi {
		q.fails = 0
	}
	q.lo, q.hi = pk.loops.lo, pk.loops.hi
	q.fails = min(q.fails+1, maxSkip)
	q.skip = 1 << q.fails
}

// pays reports whether others have something to do before the loop may end by itself.
func (pk *parking) pays(s *spinner) bool {
	if s.loop.Fixed {
		return true
	}
	soon := s.t.now() + sliceLength
	if s.yields(pk.cores, soon) {
		return true
	}
	clock, other := pk.cores.behind(s.t.core)
	due := s.due(pk.cores)
	return other != nil && clock < due && due > soon
}

// park takes a spinning thread out of the others' way. One that cannot leave by itself waits: it
// gives up its core, and the recogniser is told. One that may keeps its core, for as long as it
// would if others wait for that, and its clock stands still until it is known.
func (pk *parking) park(s *spinner) {
	t := s.t
	t.blocked, t.spin = true, s
	if now := pk.eng.Retired(t.ctx); now-t.lined >= roundTrip {
		t.inLine = t.now() // else it has only been to look
	}
	pk.spinners.parked = append(pk.spinners.parked, s)
	t.at, t.waitAt = t.now(), t.now()
	if s.held() {
		if s.yields(pk.cores, t.now()+sliceLength) {
			pk.cores.release(t)
		} else {
			pk.cores.hold(t.core)
		}
		pk.alike(s)
		return
	}
	switch {
	case t.waitsOn == waitsReported:
	case t.covered():
		t.waitsOn = waitsInner
		pk.segments.dropLoop(t, s)
	default:
		op, taken := pk.cutSpin(t, s)
		pk.reportSpin(s, op, taken)
		t.at = t.waitAt
		t.core.clock = t.at // it has done nothing since, and goes on as soon as it may
		pk.cores.moved(t.core)
	}
	pk.cores.release(t)
	pk.alike(s)
}

// slept is asked when a thread is about to wait in the system. If it has gone round a loop until a
// counter ended the rounds, and this call is in the loop, it can leave only when memory changes:
// these rounds were waiting, too.
func (pk *parking) slept(t *thread) {
	s := t.lapsed
	t.lapsed = nil
	if s == nil || !s.in(t.ctx.RIP-1) || t.covered() {
		return
	}
	var rest segment
	pk.segments.drain(t, &rest)
	t.keepFor(&rest)
	s.call = pk.loops.waitsAt(s)
	pk.rounds.learn(s, t.carry)
}

// alike parks the other threads that stand in the same loop: nobody may be
// missing when it ends.
func (pk *parking) alike(s *spinner) {
	for _, t := range pk.roster.threads {
		if t.core != nil && !t.blocked && !t.gone && t.pending == nil && t.probed == 0 && t.still.skip == 0 &&
			s.heads[t.ctx.RIP] {
			pk.tryPark(t)
		}
	}
}

// cutSpin ends the segment in front of the loop, where the thread came past the last place at which
// all meet, or else where the loop was entered. What the loop did is no work.
func (pk *parking) cutSpin(t *thread, s *spinner) (op section.Op, taken []edgeCount) {
	var rest segment
	pk.segments.drain(t, &rest)
	t.keepFor(&rest)
	s.point = pk.loops.passPoint(pk.loops.place(s), s.spans, t.carry)
	if t.pass != nil && t.pass.pc == s.point && pk.passPoints.pointAt(s.point).early == 0 &&
		pk.rounds.instrsBefore(s, t.carry) <= wayIn {
		op, s.passed = pk.segments.cutAtPass(t, section.OpWaitBegin), true
		rest = segment{edges: t.carry, hw: t.carryHW}
		t.carry, t.carryHW = nil, hardware{}
		var units uint64
		taken, units = pk.rounds.removeLoop(&rest, s)
		t.busy -= min(units, t.busy)
		t.keepFor(&rest)
	} else {
		pk.rounds.now = s
		var p *segment
		op, p = pk.segments.cutOp(t, section.OpWaitBegin)
		pk.rounds.now, p.loop = nil, s
		var units uint64
		taken, units = pk.rounds.removeLoop(p, s)
		t.book.cut -= pk.places.instrs(taken)
		units = min(units, p.at-p.start.at, t.busy)
		t.busy -= units
		op.At = unit.Cycles(p.at - units)
		pk.segments.reportYields(t, p)
	}
	pk.segments.without(t, outLoop, taken)
	if at := pk.loops.waitsAt(s); len(op.Site.Stack) > 0 && pk.images.own(at) {
		op.Site.Stack[0] = pk.places.frame(at, at) // the same place whatever block the thread was in
	}
	return op, taken
}

// wayIn is how many instructions a thread may do between the point at which all pass and its loop:
// a function that counts arrivals, say. What takes longer is work, and its end is at the loop.
const wayIn = 200

// reportSpin tells the recogniser of the wait.
func (pk *parking) reportSpin(s *spinner, op section.Op, taken []edgeCount) {
	t := s.t
	t.waitAt = uint64(op.At)
	op.Object, op.Untyped = s.object, s.point == 0
	s.call = uint64(op.Site.Place())
	pk.barriers.suspect(t, &op)
	if s.tried == 0 {
		s.tried = t.tried
	}
	if s.tried == 0 {
		s.tried = pk.passes.tried(t, s.point) // as near as the registers still tell
	}
	if l := t.let; l != nil && l.point == s.point {
		pk.handed[s.call] = true
		t.let = nil
	}
	pk.queues.waits(s, taken, op.Span.(*segment).edges, t.carry, taken)
	pk.rounds.learn(s, taken)
	pk.operations.feed(op)
	s.reported = true
	t.waitsOn, t.object = waitsReported, s.object
	if s.point != 0 {
		pk.passPoints.pointAt(s.point).park(s)
	}
}
