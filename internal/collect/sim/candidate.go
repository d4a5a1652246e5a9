// Functions of the program's own that may be barriers, and what comes of them.

package sim

import (
	"maps"
	"slices"

	"lime/internal/collect/known"
	"lime/internal/collect/threads"
	"lime/internal/section"
)

// barriers is the calls of barriers, and the functions of the program's own that may be some.
type barriers struct {
	openCalls  *openCalls
	operations *operations
	places     *places
	probes     *probes
	roster     *roster
	passPoints *passPoints
	segments   *segments
	images     *images
	beside     *beside
	candidates map[uint64]*candidate // functions that are barriers, or may be, by address
	inRound    map[uint64]bool       // where blocks begin that do nothing but wait
}

// A candidate is a function of the program's own in which its threads may wait for one another: a
// barrier, perhaps. It is found by what makes a barrier: nobody comes out before all have gone in.
// From then on lime stops where it is entered and where it returns, as with pthread_barrier_wait,
// however it waits inside: flags that pass from thread to thread, and spinning for a moment only,
// are all the same.
type candidate struct {
	f       *fn
	state   candidateState
	round   map[*thread]bool // who has come in this round; candidateKnown: and has not been let go
	seen    map[*thread]bool // candidateWatched: who has come ever
	in      map[*thread]bool // candidateWatched: who is in the function
	whole   bool             // candidateWatched: the round was watched from its start
	idle    map[*thread]bool // candidateWatched: whether who has come through did next to nothing in it but wait
	fails   int              // candidateWatched: rounds that were none of a barrier
	after   map[*thread]bool // candidateWatched: who was in the function when the first came out
	since   uint64           // candidateWatched: when that was
	slow    bool             // candidateWatched: they have come out one by one, as from a lock
	party   map[*thread]bool // candidateKnown: who comes to it
	out     map[*thread]bool // candidateKnown: who has been let go and is still in the function
	turns   turns            // candidateWatched, threads in parallel
	exit    uint64           // of a way, which is no function: where it ends
	call    bool             // of a way: it ends where all of them come to, whether they have waited or not
	further bool             // of a way: if it is none, it may be one that begins further out
	early   bool             // threads in parallel: somebody came out before all others had gone in as often
	given   bool             // somebody was let out by one who had not gone in
	last    *thread          // candidateKnown, of a way: who came last, and has not come to its end
}

// candidateState is what is known of a function.
type candidateState uint8

const (
	candidateWatched candidateState = iota // it may be a barrier
	candidateKnown                         // it is one
	candidateRefuted                       // it is none
)

// Limits of candidates.
const (
	candidateLevels = 3     // how many functions around a wait are tried, the innermost first
	candidateFails  = 3     // rounds that may fail: of the first ones, only a part may have been seen
	candidateLength = 2_000 // instructions that a thread may do in a barrier besides waiting
	candidateTurn   = 200   // instructions in a turn of a thread inside of one: it is about to wait, or to release others
)

// suspect watches the innermost function around a wait that may be a barrier: it was entered since
// the thread's last wait, and is not the thread's own outermost function. It reports whether there
// is one.
func (b *barriers) suspect(t *thread, op *section.Op) bool {
	b.tooLong(t)
	for _, entry := range b.around(&op.Site) {
		g := b.candidates[entry]
		if g == nil && entry != 0 && b.openCalls.entries[entry] == nil {
			g = b.watch(entry)
		}
		if g != nil && g.state != candidateRefuted {
			return true
		}
	}
	return false
}

// suspectHere does so where t stands: it has said that it has nothing to do, or is seen to wait.
func (b *barriers) suspectHere(t *thread) bool {
	b.segments.keep(t)
	p := &segment{start: t.segment, stack: b.places.stack(t), edges: t.carry}
	op := t.simple(section.OpWaitBegin, 0)
	op.Site = b.places.site(t.ctx.RIP, p.stack)
	op.Site.Kept = b.places.kept(p)
	return b.suspect(t, &op)
}

// around lists the functions around a wait that may be barriers, the innermost first: those that
// were called for it. One that ended in a jump to where the thread waits is on the stack no more,
// but the call tells of it.
func (b *barriers) around(site *section.Site) (entries []uint64) {
	s, inner := site.Stack, uint64(0)
	for i := 0; i < len(s) && len(s)-1-i >= site.Kept && len(entries) < candidateLevels; i++ {
		for _, entry := range []uint64{inner, b.places.called(uint64(s[i].Call))} {
			if b.mayMeet(entry) && !slices.Contains(entries, entry) {
				entries = append(entries, entry)
			}
		}
		inner = uint64(s[i].Func)
	}
	return entries
}

// mayMeet reports whether a function may be a barrier: it is the program's own (else sched_yield
// would be, for one), no runtime calls it for itself, and it is no round of a loop.
func (b *barriers) mayMeet(entry uint64) bool {
	return b.images.own(entry) && !b.openCalls.handedOver(entry) && !b.inRound[entry]
}

// isRound notes that a function, if there begins one, is no barrier.
func (b *barriers) isRound(entry uint64) {
	b.inRound[entry] = true
	if g := b.candidates[entry]; g != nil && g.exit == 0 && g.state == candidateWatched {
		b.refute(g)
	}
}

// noCandidate notes that a function is one of these, whatever it was watched for.
func (b *barriers) noCandidate(entry uint64) {
	if g := b.candidates[entry]; g != nil && g.state != candidateRefuted {
		b.refute(g)
	}
}

// tooLong counts against functions in which a thread has worked before it came to wait: they hold
// more than a barrier.
func (b *barriers) tooLong(t *thread) {
	for i := range t.frames {
		if c := &t.frames[i]; c.candidate != nil && c.candidate.state == candidateWatched {
			b.judge(c.candidate, t, c)
		}
	}
}

// judge judges a candidate by what a thread did in it.
func (b *barriers) judge(g *candidate, t *thread, c *call) {
	if t.workedIn(c) > candidateLength+2*sliceLength { // some of it may have been spinning in loops that are not known yet
		b.failRound(g)
		c.before, c.partly = t.worked(), true
	}
}

// idles notes whether a thread that comes out has ever done next to nothing in it but wait.
func (g *candidate) idles(t *thread, c *call) {
	if !c.partly {
		g.idle[t] = g.idle[t] || t.workedIn(c) <= candidateLength
	}
}

// allIdle reports whether all who have come through have been through like that, as far as that is
// known: a function in which but one of them works is more than a barrier.
func (g *candidate) allIdle() bool {
	for t, idle := range g.idle {
		if !idle && !t.gone && !t.ended {
			return false
		}
	}
	return len(g.idle) > 0
}

// workedIn is what a thread has done in a call; that it was spinning there may have come out
// meanwhile.
func (t *thread) workedIn(c *call) uint64 { return t.worked() - min(t.worked(), c.before) }

// worked is what a thread has done, but for giving its core away.
func (t *thread) worked() uint64 { return t.busy - min(t.busy, t.yields) }

// failRound notes a round that was none of a barrier; true refutes the candidate.
func (b *barriers) failRound(g *candidate) bool {
	if g.whole {
		g.fails++
	}
	g.anew()
	if g.fails > candidateFails || g.further {
		b.refute(g)
	}
	return g.state == candidateRefuted
}

func (b *barriers) watch(entry uint64) *candidate {
	g := b.newCandidate(entry)
	for _, t := range b.roster.threads {
		if t.ctx != nil && t.goroutine == nil && t.hosts == nil && !t.gone && !t.ended && !b.beside.runs(t) {
			b.adopt(g, t, entry)
		}
	}
	return g
}

func (b *barriers) newCandidate(entry uint64) *candidate {
	g := &candidate{idle: map[*thread]bool{}, round: map[*thread]bool{}, seen: map[*thread]bool{}, in: map[*thread]bool{},
		party: map[*thread]bool{}, out: map[*thread]bool{}, turns: newTurns(map[*thread]bool{})}
	g.f = &fn{Name: "barrier of the program's own", Role: known.Gate, Object: none, Constant: threads.Candidate | entry}
	b.candidates[entry], b.openCalls.entries[entry] = g, g.f
	b.probes.setProbe(entry)
	return g
}

// adopt takes in a thread that is in the function already.
func (b *barriers) adopt(g *candidate, t *thread, entry uint64) {
	pc := t.ctx.RIP
	for _, f := range b.places.stack(t) {
		if _, fn := b.images.function(pc); fn != entry && b.places.called(b.places.blocks.callBefore(f.ret)) != entry {
			pc = f.ret - 1
			continue
		}
		i := slices.IndexFunc(t.frames, func(c call) bool { return c.rsp < f.cfa-8 })
		if i < 0 {
			i = len(t.frames)
		}
		t.frames = slices.Insert(t.frames, i, call{fn: g.f, ret: f.ret, rsp: f.cfa - 8, at: t.now(),
			candidate: g, before: t.worked(), partly: true})
		b.probes.setProbe(f.ret)
		g.round[t], g.in[t], g.seen[t] = true, true, true
		return
	}
}

func (b *barriers) refute(g *candidate) {
	entry := g.f.Constant &^ threads.Candidate
	g.state = candidateRefuted
	delete(b.openCalls.entries, entry)
	if b.passPoints.points[entry] == nil && b.openCalls.bodies[entry] == nil && b.openCalls.taskBodies[entry] == nil {
		b.probes.clearProbe(entry)
	}
}

// enterCandidate is a thread's arrival.
func (b *barriers) enterCandidate(t *thread, f *fn) {
	g := b.candidates[t.ctx.RIP]
	if g.state == candidateWatched && !b.goesIn(g, t) {
		return
	}
	c := b.enterAt(t, g)
	c.candidate, c.before = g, t.worked()
	if g.state == candidateKnown {
		b.arriveAtCandidate(t, g, c)
	}
}

// goesRound reports whether t, which stands where a function begins that may be a barrier, is in it
// already: a loop begins there, too, and each of its rounds is no call.
func goesRound(t *thread, f *fn, sp uint64) bool {
	n := len(t.frames)
	if n == 0 || t.frames[n-1].fn != f || t.frames[n-1].rsp != sp {
		return false
	}
	g := t.frames[n-1].candidate
	return g != nil && g.exit == 0
}

// goesIn notes that a thread enters a function that may be a barrier; false refutes it.
func (b *barriers) goesIn(g *candidate, t *thread) bool {
	if b.beside != nil {
		b.beside.goesIn(g, t)
		return g.state != candidateRefuted
	}
	if g.round[t] {
		if (g.whole || b.allCame(g)) && g.allIdle() && len(g.round) > 1 &&
			len(g.round) == len(g.seen) && g.settled(t) {
			g.state, g.party, g.round = candidateKnown, g.round, map[*thread]bool{}
			return true
		}
		if b.failRound(g) {
			return false
		}
	}
	for x := range g.round {
		if !g.in[x] {
			if b.failRound(g) {
				return false
			}
			break
		}
	}
	g.round[t], g.in[t], g.seen[t] = true, true, true
	return true
}

// allCame reports whether everybody has come in a round, but those who wait for others to end: then
// nobody was missed, though the function is watched since somebody was seen to wait in it.
func (b *barriers) allCame(g *candidate) bool {
	for _, t := range b.roster.threads {
		if !t.gone && !t.ended && !g.round[t] && t.in(known.Join) == nil {
			return false
		}
	}
	return true
}

// settled reports whether all who came with t have left.
func (g *candidate) settled(t *thread) bool {
	for x := range g.round {
		if x != t && g.in[x] {
			return false
		}
	}
	return true
}

// anew starts a round: whoever has come so far has come for the last one.
func (g *candidate) anew() {
	outside := map[*thread]bool{}
	for t := range g.seen {
		outside[t] = !g.in[t]
	}
	g.round, g.whole, g.turns = map[*thread]bool{}, true, newTurns(outside)
}

func (b *barriers) arriveAtCandidate(t *thread, g *candidate, c *call) {
	op := b.arrivalAt(t, g, c)
	if s := op.Site.Stack; g.exit == 0 && len(s) > 1 && uint64(s[0].Call) == t.ctx.RIP {
		op.Site.Stack = s[1:] // the call, not the function itself
		c.site = op.Site
	}
	op.Built = true
	b.operations.feed(op)
	c.reported = true
	b.beside.arrives(t, c)
	g.party[t], g.round[t] = true, true
	delete(g.out, t)
	b.lastOnWay(t, g)
}

// leaveCandidate is a thread's return.
func (b *barriers) leaveCandidate(t *thread, c *call) {
	g := c.candidate
	delete(g.in, t)
	if g.exit != 0 && t.ctx.RIP != g.exit {
		b.elsewhere(t, c)
		return
	}
	if !c.reported {
		if g.state == candidateWatched {
			b.segments.lessSpinning(t)
			g.idles(t, c)
			b.judge(g, t, c)
			g.drains(t)
			b.beside.comesOut(g, t)
		}
		return
	}
	b.outOfCandidate(t, g)
	b.leaveBarrier(t, c)
}

// outOfCandidate notes that t is let go by a known candidate.
func (b *barriers) outOfCandidate(t *thread, g *candidate) {
	if g.round[t] && !g.out[t] { // the first to leave: all must be there
		if g.state == candidateKnown && !g.complete() {
			b.refute(g)
		}
		g.out, g.round = g.round, map[*thread]bool{}
	}
	delete(g.out, t)
}

// complete reports whether all who come here have come.
func (g *candidate) complete() bool {
	for t := range g.party {
		if !t.gone && !t.ended && !g.round[t] {
			return false
		}
	}
	return true
}

// drains notes how long it takes until all have come out.
func (g *candidate) drains(t *thread) {
	if len(g.after) == 0 {
		g.since, g.after = t.now(), maps.Clone(g.in)
		return
	}
	if g.after[t] {
		g.slow = g.slow || t.now()-min(t.now(), g.since) > candidateLength
		delete(g.after, t)
	}
}

// holds reports whether waits in the function are those of a barrier, as far as can be told.
func (g *candidate) holds() bool {
	return g.state == candidateKnown || g.state == candidateWatched && g.fails == 0 && !g.slow
}

// atCandidate reports whether what was taken for a wait for a lock is one at a barrier.
func (b *barriers) atCandidate(l *lockEvent) bool {
	if l.kind.outside() {
		return false
	}
	g := l.candidate
	if g == nil {
		_, entry := b.images.function(l.call)
		g = b.candidates[entry]
	}
	return g != nil && (g.state == candidateKnown || b.beside == nil && g.holds())
}

// watchedCandidate is the innermost function that may be a barrier and in which t stands.
func (t *thread) watchedCandidate() *candidate {
	for i := len(t.frames) - 1; i >= 0; i-- {
		if g := t.frames[i].candidate; g != nil && !t.frames[i].reported {
			return g
		}
	}
	return nil
}

// inCandidate shortens a turn inside of a candidate.
func (t *thread) inCandidate(budget int64) int64 {
	if n := len(t.frames); n > 0 && t.frames[n-1].candidate != nil && t.frames[n-1].candidate.state != candidateRefuted {
		return min(budget, candidateTurn)
	}
	return budget
}
