// Off the core: why a thread left it, where it was in the program then, and for how long it was
// away.

package native

import (
	"slices"

	"lime/internal/profile"
	"lime/internal/section"
)

// absences are the times that threads are off the core: charged to the places where they left it,
// or to the want of a core.
type absences struct {
	clocks  *clocks
	out     *output
	program *program

	scheduler scheduler
	seen      uint64 // times that threads left their core where samples show where
	unseen    uint64 // and where they do not
	queued    uint64 // ns that threads could have run and had no core
	stops     []gap  // lime had stopped the program
}

// Kinds of time off the core.
const (
	kindSleep    = profile.KindSleep
	kindIO       = profile.KindIO
	kindFault    = profile.KindFault
	kindMap      = profile.KindMap
	kindFutex    = profile.KindFutex
	kindOffCPU   = profile.KindOffCPU
	kindRunQueue = profile.KindRunQueue
	// Waits for other threads, in functions that are known.
	kindWork = profile.KindWorkWait
	kindLock = profile.KindLockWait
	kindTurn = profile.KindPermitWait
)

// metricOff is the metric of call paths that have left the core of their own accord, metricQueue of
// those that had to.
const (
	metricOff   = "off-core"
	metricQueue = kindRunQueue
)

// leaving is where a thread leaves its core.
type leaving struct {
	at    uint64
	kind  string // should it do so of its own accord
	call  uint64 // the innermost of the program's own code that is open
	path  int32
	waits bool // in a runtime, for other threads
	// it gives its core away in a loop of the program's own that waits, which the kernel takes for
	// one that had to leave, or has to leave it there
	yields bool
	takes  bool // that loop tries to take a lock
	idles  bool // Go's scheduler has the thread wait: what it would run has no processor
	seen   bool // this very time; else it is where the thread was seen to leave last
}

// near is how long before the kernel's record of a switch the sample of that switch is taken, at
// most, in ns: nothing runs in between.
const near = 100_000

// away is a time off the core that lasts.
type away struct {
	from   uint64 // 0: none
	forced bool   // it could have gone on
	// it was on its way back from a wait that ended a section: should it wait at a futex there, it
	// does so for the lock that it meets under
	home bool
	// it has given its core away, this time or when it was last seen to leave
	yields bool
	known  bool // what it waits for stands in the profile already: a barrier, a join, a lock, work
	where  leaving
	pace   uint64 // what its clock said when it left
	sure   uint64 // and what the one that is sure did
}

// offSpan is a time off the core that is over.
type offSpan struct {
	from, to uint64
	path     int32
	metric   string
	wait     offWait
	queued   uint64 // ns for which one that had no core may have kept it waiting
}

// offWait is the times off the core of one kind at one place in one piece.
type offWait struct {
	kind    string
	call    uint64
	n, wait uint64
}

// remembered is how many times off the core a thread remembers: a wait for a lock takes those back
// that lie in it.
const remembered = 8

// offCore is what a thread knows of its times off the core.
type offCore struct {
	now    away
	last   leaving // where it was seen to leave last
	looks  []look  // at it, in order of time
	unseen bool    // it left for a reason that was not seen since the last look
	gone   [remembered]offSpan
	next   int
}

// leavesCore: the thread is about to leave its core.
func (ab *absences) leavesCore(t *thread, x *item) {
	t.off.last = *x.left
	t.off.last.at, t.off.last.seen = x.at, true
}

// hasLeft: the thread has left its core.
func (ab *absences) hasLeft(t *thread, at uint64, forced bool) {
	o := &t.off
	if o.last.kind == "" {
		o.last.kind, o.last.path = kindOffCPU, ab.program.sitePath(section.Site{})
	}
	o.now = away{from: at, pace: ab.clocks.pace.now, sure: ab.clocks.pace.sure, forced: forced, where: o.last, known: t.acting().waits() || t.cond.on || t.lock.at != 0}
	o.now.home = t.home.holds(0, t.cpu.at(at))
	o.now.where.seen = o.last.seen && at-min(at, o.last.at) < near
	o.now.yields = forced && o.last.yields
	o.last.seen = false
}

// cameBack: it has a core again. It was away for something else for so long, by the wall's clock and
// by the pace's.
func (ab *absences) cameBack(t *thread, at uint64) (r rest) {
	o := &t.off
	was := o.now
	o.now = away{}
	on := t.acting()
	from := max(was.from, on.piece.from)
	if was.from == 0 || from >= at || ab.stood(was.from, at) {
		return r
	}
	switch {
	case was.forced && was.yields && !was.known:
		ab.gaveWay(t, &was, at)
		return r
	case was.forced:
		ab.waitsForCore(on, was.where.path, at-from)
		return r
	}
	queued := min(at-from, ab.scheduler.waited(t.tid, at))
	ab.waitsForCore(on, was.where.path, queued)
	asleep := at - from - queued
	share := float64(asleep) / float64(at-was.from)
	r = rest{asleep: asleep, waited: uint64(float64(ab.clocks.pace.now-was.pace) * share), due: asleep}
	if was.known && t.cond.on {
		t.cond.waited += r.waited
	}
	if asleep == 0 || was.known || ab.program.golang && on.goroutine == nil {
		return r
	}
	sure := uint64(float64(ab.clocks.pace.sure-was.sure) * share)
	r.due = ab.isAway(t, &was, offSpan{from: was.from, to: at, wait: offWait{n: 1, wait: asleep}}, sure)
	return r
}

// waitsFor is the kind of a wait in a loop of the program's own.
func (l *leaving) waitsFor() string {
	if l.takes {
		return kindLock
	}
	return kindWork
}

// gaveWay charges a time for which a thread that waits for others in a loop had no core: it goes on
// waiting without it.
func (ab *absences) gaveWay(t *thread, was *away, at uint64) {
	was.where.kind = was.where.waitsFor()
	s := offSpan{from: was.from, to: at, wait: offWait{n: 1, wait: at - was.from}}
	ab.isAway(t, was, s, ab.clocks.pace.sure-was.sure)
}

// forThreads reports whether a thread that is away for something of a kind may wait for others of the
// program. Who changes the memory that they share has a lock of the kernel's meanwhile, for which
// others wait who do so, too, or miss a page; and who has it may have no core.
func forThreads(kind string) bool { return kind == kindFutex || kind == kindMap || kind == kindFault }

// isAway charges a time off the core that nobody tells of to the place where the thread left it. It is
// for how long the thread would have been away with a core for everybody: whom it waits for at a
// futex, or for the memory, nobody knows, so that only the rest of that is sure in which none of them
// wanted a core.
func (ab *absences) isAway(t *thread, was *away, s offSpan, sure uint64) (ns uint64) {
	o, on := &t.off, t.acting()
	if w, ok := o.seenAway(s.from, s.to); ok {
		was.where = w
	}
	if o.unseen = !was.where.seen; was.where.seen {
		ab.seen++
		o.last = was.where
		o.last.seen = false
		ab.placeOff(on, was.where)
	} else {
		ab.unseen++
	}
	s.path, s.wait.kind, s.wait.call = was.where.path, was.where.kind, was.where.call
	if was.where.idles {
		ab.waitsForCore(on, s.path, s.wait.wait)
		return 0
	}
	others := profile.FamilyOf(s.wait.kind) != profile.FamilyOffCore
	if was.where.waits || (others || s.wait.kind == kindFutex) && (was.home || !ab.program.watches()) {
		ab.out.paths[pathKey{s.path, on.row(), noSection, "wait"}] += float64(s.wait.wait)
		return s.wait.wait
	}
	s.metric = metricOff
	if others {
		s.metric, s.wait.wait = "wait", sure
	} else if forThreads(s.wait.kind) {
		s.queued = s.wait.wait - min(sure, s.wait.wait)
		s.wait.wait -= s.queued
		ab.waitsForCore(on, s.path, s.queued)
	}
	on.piece.addOff(s.wait)
	if s.wait.kind == kindSleep || s.wait.kind == kindIO {
		t.rested += s.wait.wait
	}
	if was.yields {
		from := s.from
		if !was.where.seen {
			from = 0
		}
		on.looping.waits(on.piece, s.wait, from, t.cpu.total)
	}
	t.line.waits(s.wait.wait)
	ab.out.paths[pathKey{s.path, on.row(), noSection, s.metric}] += float64(s.wait.wait)
	o.gone[o.next] = s
	o.next = (o.next + 1) % remembered
	return s.wait.wait
}

// waitsForCore charges what a thread waited for a core to the place where it was.
func (ab *absences) waitsForCore(t *thread, path int32, ns uint64) {
	t.piece.queued += ns
	ab.queued += ns
	ab.out.paths[pathKey{path, t.row(), noSection, metricQueue}] += float64(ns)
}

// placeOff charges what a thread was off its core before it was first seen to leave it to where
// that is.
func (ab *absences) placeOff(t *thread, where leaving) {
	i := slices.IndexFunc(t.piece.off, func(w offWait) bool { return w.kind == kindOffCPU && w.call == 0 })
	if i < 0 {
		return
	}
	w := t.piece.off[i]
	t.piece.off = slices.Delete(t.piece.off, i, i+1)
	t.piece.addOff(offWait{where.kind, where.call, w.n, w.wait})
	from, to := pathKey{ab.program.sitePath(section.Site{}), t.row(), noSection, metricOff}, pathKey{where.path, t.row(), noSection, metricOff}
	ab.out.paths[to] += min(ab.out.paths[from], float64(w.wait))
	ab.out.paths[from] -= min(ab.out.paths[from], float64(w.wait))
}

// standsStill remembers that lime itself had stopped the program.
func (ab *absences) standsStill(from, to uint64) {
	ab.stops = append(ab.stops, gap{from: from, to: to})
}

// stood reports whether lime had stopped the program at any moment of a time.
func (ab *absences) stood(from, to uint64) bool {
	return slices.ContainsFunc(ab.stops, func(g gap) bool { return g.from < to && from < g.to })
}

// offWithin takes back what a thread was off its core within a wait that turns out to be known.
func (ab *absences) offWithin(t *thread, from, to uint64) {
	if w := &t.off.now; w.from > from && w.from < to {
		w.known = true
	}
	for i := range t.off.gone {
		s := &t.off.gone[i]
		if s.from < from || s.to > to || s.wait.wait+s.queued == 0 {
			continue
		}
		ab.takeBack(t.acting(), s)
		*s = offSpan{}
	}
}

// takeBack takes back what was charged for a time off the core, if it stands there.
func (ab *absences) takeBack(on *thread, s *offSpan) {
	if !on.piece.forgetOff(s.wait) {
		return
	}
	less := func(metric string, ns uint64) {
		k := pathKey{s.path, on.row(), noSection, metric}
		ab.out.paths[k] = max(0, ab.out.paths[k]-float64(ns))
	}
	less(s.metric, s.wait.wait)
	less(metricQueue, s.queued)
	on.piece.queued -= min(s.queued, on.piece.queued)
	ab.queued -= min(s.queued, ab.queued)
}

func (p *piece) addOff(w offWait) {
	for i := range p.off {
		if k := &p.off[i]; k.call == w.call && k.kind == w.kind {
			k.n, k.wait = k.n+w.n, k.wait+w.wait
			return
		}
	}
	p.off = append(p.off, w)
}

// forgetOff takes a time back, if it stands there.
func (p *piece) forgetOff(w offWait) bool {
	for i := range p.off {
		if k := &p.off[i]; k.call == w.call && k.kind == w.kind && k.n >= w.n && k.wait >= w.wait {
			k.n, k.wait = k.n-w.n, k.wait-w.wait
			return true
		}
	}
	return false
}

// offCore writes a part's times off the core, by kind and place, and returns their sum.
func (o *output) offCore(x *profile.Instance, s *partSum, part int32) {
	for _, w := range s.off {
		if w.n == 0 { // taken back
			continue
		}
		id := int32(o.offEvent(offKey{w.kind, w.call}))
		x.Events, x.Costs = addCount(x.Events, id, part, w.n), addCount(x.Costs, id, part, w.wait)
	}
}

// offKey names a row: a kind at a place.
type offKey struct {
	kind string
	call uint64
}

func (o *output) offEvent(k offKey) profile.EventID {
	id, ok := o.offEvents[k]
	if !ok {
		kind, told := o.eventKinds[k.kind]
		if !told {
			kind = o.sink.AddKind(profile.NewKind(profile.Measured, k.kind))
			o.eventKinds[k.kind] = kind
		}
		e := profile.Event{Kind: kind, Node: profile.None, Addr: k.call}
		if k.call != 0 {
			e.Node = o.code.at(k.call).b.id
		}
		id = o.sink.AddEvent(e)
		o.offEvents[k] = id
	}
	return id
}
