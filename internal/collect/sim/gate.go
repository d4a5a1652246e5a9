package sim

import (
	"maps"
	"slices"

	"lime/internal/collect/known"
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
	gates      map[uint64]*gate // functions that are barriers, or may be, by address
}

// A gate is a function of the program's own in which its threads wait for one another. It is found
// by what makes a barrier: nobody comes out before all have gone in. From then on lime stops where
// it is entered and where it returns, as with pthread_barrier_wait, however it waits inside: flags
// that pass from thread to thread, and spinning for a moment only, are all the same.
type gate struct {
	f     *fn
	state gateState
	round map[*thread]bool // who has come in this round; gateKnown: and has not been let go
	seen  map[*thread]bool // gateWatched: who has come ever
	in    map[*thread]bool // gateWatched: who is in the function
	whole bool             // gateWatched: the round was watched from its start
	least uint64           // gateWatched: the least that a thread has done in it
	fails int              // gateWatched: rounds that were none of a barrier
	after map[*thread]bool // gateWatched: who was in the function when the first came out
	since uint64           // gateWatched: when that was
	slow  bool             // gateWatched: they have come out one by one, as from a lock
	party map[*thread]bool // gateKnown: who comes to it
	out   map[*thread]bool // gateKnown: who has been let go and is still in the function
	turns turns            // gateWatched, threads in parallel
	exit  uint64           // of a way, which is no function: where it ends
	given bool             // threads in parallel: somebody was let out by one who had not gone in
	last  *thread          // gateKnown, of a way: who came last, and has not come to its end
}

// gateState is what is known of a function.
type gateState uint8

const (
	gateWatched gateState = iota // it may be a barrier
	gateKnown                    // it is one
	gateRefuted                  // it is none
)

// Limits of gates.
const (
	gateObject = 1 << 62 // keeps them apart from barriers that have an address
	gateLevels = 3       // how many functions around a wait are tried, the innermost first
	gateFails  = 3       // rounds that may fail: of the first ones, only a part may have been seen
	gateLength = 2_000   // instructions that a thread may do in a barrier besides waiting
	gateTurn   = 200     // instructions in a turn of a thread inside of a gate: it is about to wait, or to release others
)

// suspect watches the innermost function around a wait that may be a barrier: it was entered since
// the thread's last wait, and is not the thread's own outermost function. It reports whether there
// is one.
func (b *barriers) suspect(t *thread, op *section.Op) bool {
	b.tooLong(t)
	for _, entry := range b.around(&op.Site) {
		g := b.gates[entry]
		if g == nil && entry != 0 && b.openCalls.entries[entry] == nil {
			g = b.watch(entry)
		}
		if g != nil && g.state != gateRefuted {
			return true
		}
	}
	return false
}

// around lists the functions of the program's own around a wait that may be barriers.
func (b *barriers) around(site *section.Site) (entries []uint64) {
	s := site.Stack
	for i := 0; i < gateLevels && i+1 < len(s) && len(s)-2-i >= site.Kept; i++ {
		entry := uint64(s[i].Func)
		if b.images.own(entry) && !b.openCalls.handedOver(entry) { // else sched_yield in the loop, for one
			entries = append(entries, entry)
		}
	}
	return entries
}

// noGate notes that a function is one of these, whatever it was watched for.
func (b *barriers) noGate(entry uint64) {
	if g := b.gates[entry]; g != nil && g.state != gateRefuted {
		b.refute(g)
	}
}

// tooLong counts against functions in which a thread has worked before it came to wait: they hold
// more than a barrier.
func (b *barriers) tooLong(t *thread) {
	for i := range t.frames {
		if c := &t.frames[i]; c.gate != nil && c.gate.state == gateWatched {
			b.took(c.gate, t, c)
		}
	}
}

// took judges a gate by what a thread did in it.
func (b *barriers) took(g *gate, t *thread, c *call) {
	worked := t.workedIn(c)
	g.least = min(g.least, worked)
	if worked > gateLength+2*sliceLength { // some of it may have been spinning in loops that are not known yet
		b.fails(g)
		c.before = t.busy
	}
}

// workedIn is what a thread has done in a call; that it was spinning there may have come out
// meanwhile.
func (t *thread) workedIn(c *call) uint64 { return t.busy - min(t.busy, c.before) }

// fails notes a round that was none of a barrier; true refutes the gate.
func (b *barriers) fails(g *gate) bool {
	if g.whole {
		g.fails++
	}
	g.anew()
	if g.fails > gateFails {
		b.refute(g)
	}
	return g.state == gateRefuted
}

func (b *barriers) watch(entry uint64) *gate {
	g := &gate{least: ^uint64(0), round: map[*thread]bool{}, seen: map[*thread]bool{}, in: map[*thread]bool{},
		party: map[*thread]bool{}, out: map[*thread]bool{}}
	g.f = &fn{Name: "barrier of the program's own", Role: known.Gate, Object: none, Constant: gateObject | entry}
	b.gates[entry], b.openCalls.entries[entry] = g, g.f
	b.probes.setProbe(entry)
	for _, t := range b.roster.threads {
		if t.ctx != nil && t.gopher == nil && t.hosts == nil && !t.gone && !t.ended && !b.beside.runs(t) {
			b.adopt(g, t, entry)
		}
	}
	return g
}

func (b *barriers) newGate(entry uint64) *gate {
	g := &gate{least: ^uint64(0), round: map[*thread]bool{}, seen: map[*thread]bool{}, in: map[*thread]bool{},
		party: map[*thread]bool{}, out: map[*thread]bool{}}
	g.f = &fn{Name: "barrier of the program's own", Role: known.Gate, Object: none, Constant: gateObject | entry}
	b.gates[entry], b.openCalls.entries[entry] = g, g.f
	b.probes.setProbe(entry)
	return g
}

// adopt takes in a thread that is in the function already.
func (b *barriers) adopt(g *gate, t *thread, entry uint64) {
	pc := t.ctx.RIP
	for _, f := range b.places.stack(t) {
		if _, fn := b.images.function(pc); fn != entry {
			pc = f.ret - 1
			continue
		}
		i := slices.IndexFunc(t.frames, func(c call) bool { return c.rsp < f.cfa-8 })
		if i < 0 {
			i = len(t.frames)
		}
		t.frames = slices.Insert(t.frames, i, call{fn: g.f, ret: f.ret, rsp: f.cfa - 8, at: t.now(), gate: g, before: t.busy})
		b.probes.setProbe(f.ret)
		g.round[t], g.in[t], g.seen[t] = true, true, true
		return
	}
}

func (b *barriers) refute(g *gate) {
	entry := g.f.Constant &^ gateObject
	g.state = gateRefuted
	delete(b.openCalls.entries, entry)
	if b.passPoints.points[entry] == nil && b.openCalls.bodies[entry] == nil && b.openCalls.taskBodies[entry] == nil {
		b.probes.clearProbe(entry)
	}
}

// enterGate is a thread's arrival.
func (b *barriers) enterGate(t *thread, f *fn) {
	g := b.gates[t.ctx.RIP]
	if g.state == gateWatched && !b.comes(g, t) {
		return
	}
	c := b.enterAt(t, g)
	c.gate, c.before = g, t.busy
	if g.state == gateKnown {
		b.arriveGate(t, g, c)
	}
}

// comes notes that a thread enters a function that may be a barrier; false refutes it.
func (b *barriers) comes(g *gate, t *thread) bool {
	if b.beside != nil {
		b.beside.goesIn(g, t)
		return g.state != gateRefuted
	}
	if g.round[t] {
		if (g.whole || b.allCame(g)) && g.least <= gateLength && len(g.round) > 1 && len(g.round) == len(g.seen) && g.settled(t) {
			g.state, g.party, g.round = gateKnown, g.round, map[*thread]bool{}
			return true
		}
		if b.fails(g) {
			return false
		}
	}
	for x := range g.round {
		if !g.in[x] {
			if b.fails(g) {
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
func (b *barriers) allCame(g *gate) bool {
	for _, t := range b.roster.threads {
		if !t.gone && !t.ended && !g.round[t] && t.in(known.Join) == nil {
			return false
		}
	}
	return true
}

// settled reports whether all who came with t have left.
func (g *gate) settled(t *thread) bool {
	for x := range g.round {
		if x != t && g.in[x] {
			return false
		}
	}
	return true
}

// anew starts a round: whoever has come so far has come for the last one.
func (g *gate) anew() { g.round, g.whole, g.turns = map[*thread]bool{}, true, turns{} }

func (b *barriers) arriveGate(t *thread, g *gate, c *call) {
	op := b.arrivalAt(t, g, c)
	if s := op.Site.Stack; g.exit == 0 && len(s) > 1 && uint64(s[0].Call) == t.ctx.RIP {
		op.Site.Stack = s[1:] // the call, not the function itself
		c.site = op.Site
	}
	op.Built = true
	b.operations.feed(op)
	c.told = true
	b.beside.arrives(t, c)
	g.party[t], g.round[t] = true, true
	delete(g.out, t)
	b.lastOnWay(t, g)
}

// leaveGate is a thread's return.
func (b *barriers) leaveGate(t *thread, c *call) {
	g := c.gate
	delete(g.in, t)
	if g.exit != 0 && t.ctx.RIP != g.exit {
		b.elsewhere(t, c)
		return
	}
	if !c.told {
		if g.state == gateWatched {
			b.segments.lessSpinning(t)
			b.took(g, t, c)
			g.drains(t)
			b.beside.comesOut(g, t)
		}
		return
	}
	b.outOfGate(t, g)
	b.leaveBarrier(t, c)
}

// outOfGate notes that t is let go by a known gate.
func (b *barriers) outOfGate(t *thread, g *gate) {
	if g.round[t] && !g.out[t] { // the first to leave: all must be there
		if g.state == gateKnown && !g.complete() {
			b.refute(g)
		}
		g.out, g.round = g.round, map[*thread]bool{}
	}
	delete(g.out, t)
}

// complete reports whether all who come here have come.
func (g *gate) complete() bool {
	for t := range g.party {
		if !t.gone && !t.ended && !g.round[t] {
			return false
		}
	}
	return true
}

// drains notes how long it takes until all have come out.
func (g *gate) drains(t *thread) {
	if len(g.after) == 0 {
		g.since, g.after = t.now(), maps.Clone(g.in)
		return
	}
	if g.after[t] {
		g.slow = g.slow || t.now()-min(t.now(), g.since) > gateLength
		delete(g.after, t)
	}
}

// holds reports whether waits in the function are those of a barrier, as far as can be told.
func (g *gate) holds() bool {
	return g.state == gateKnown || g.state == gateWatched && g.fails == 0 && !g.slow
}

// atGate reports whether what was taken for a wait for a lock is one at a barrier.
func (b *barriers) atGate(l *lockEvent) bool {
	if l.kind.outside() {
		return false
	}
	g := l.gate
	if g == nil {
		_, entry := b.images.function(l.call)
		g = b.gates[entry]
	}
	return g != nil && g.holds()
}

// watchedGate is the innermost function that may be a barrier and in which t stands.
func (t *thread) watchedGate() *gate {
	for i := len(t.frames) - 1; i >= 0; i-- {
		if g := t.frames[i].gate; g != nil && !t.frames[i].told {
			return g
		}
	}
	return nil
}

// inGate shortens a turn inside of a gate.
func (t *thread) inGate(budget int64) int64 {
	if n := len(t.frames); n > 0 && t.frames[n-1].gate != nil && t.frames[n-1].gate.state != gateRefuted {
		return min(budget, gateTurn)
	}
	return budget
}
