// Goroutines are threads of their own, as far as sections are concerned; the threads of Go's
// runtime only host them. The runtime tells when a goroutine goes on on a thread (execute), when
// the thread has none any more (schedule), why a goroutine stands back (gopark) and when it may go
// on (ready).

package native

import (
	"cmp"
	"maps"
	"slices"

	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/collect/threads"
	"lime/internal/section"
	"lime/internal/unit"
)

// goroutines are those of the program, if it is one of Go's and is watched.
type goroutines struct {
	absences   *absences
	locks      *locks
	operations *operations
	out        *output
	places     *places
	program    *program
	rec        *section.Recogniser
	roster     *roster
	shared     *shared

	byID  map[uint64]*thread
	awake map[*thread]bool // those that wait for nothing but a processor
	begun int              // how many there ever were
	first uint64           // the one that stands at the beginning of the program, 0 if that has begun before
}

// goroutineBase is the id of the first goroutine.
const goroutineBase section.ThreadID = 1 << 24

// goroutine is what is known of a goroutine only.
type goroutine struct {
	id    uint64  // its descriptor
	host  *thread // the thread that it runs on, nil: none
	last  *thread // the one that it ran on last
	left  leftAs
	at    uint64 // since when
	woken uint64 // when it was let go on last
	due   uint64 // how long that would have taken if every thread had had a core
	lock  uint64 // what it is about to take, if it has to wait for it
	site  section.Site
	list  uint64 // the condition whose list it is about to be put on
	await uint64 // what it waits to be counted down
	kind  string // why it is off, "" if that is the runtime's own affair
	row   int32  // of the profile, None if it has none yet
	count *piece // what it did until it counted down, as long as it may still go on
}

// acting is who runs on a thread: the goroutine, if there is one.
func (t *thread) acting() *thread {
	if t.hosts != nil {
		return t.hosts
	}
	return t
}

// row is the row of the profile for what has no place in a section: a goroutine's is that of the
// thread that it runs on.
func (t *thread) row() int32 {
	if t.goroutine != nil {
		return int32(t.goroutine.last.id)
	}
	return int32(t.id)
}

// schedules makes a thread one of Go's runtime. The first one begins with the first goroutine.
func (gr *goroutines) schedules(t *thread, at uint64) {
	t.idle = true
	gr.operations.feed(t.op(section.OpIdle, at))
	t.begin(at)
	if t == gr.roster.main() && gr.first != 0 {
		gr.goesIn(t, gr.newGoroutine(t, gr.first, at), at)
		gr.first = 0
	}
}

// beginGo begins with the goroutines of a program that is watched from its beginning; main is the
// first one, 0 if it is not known.
func (gr *goroutines) beginGo(main, at uint64) {
	gr.program.golang = true
	gr.byID, gr.awake, gr.begun, gr.first = map[uint64]*thread{}, map[*thread]bool{}, 0, main
	for _, t := range gr.roster.threads {
		if !t.foreign && !t.ended {
			gr.schedules(t, at)
		}
	}
}

// forget drops those of a program that has replaced itself by another one.
func (gr *goroutines) forget() { gr.byID, gr.awake, gr.begun, gr.first = nil, nil, 0, 0 }

// newGoroutine takes in a goroutine of the program's own.
func (gr *goroutines) newGoroutine(m *thread, id, at uint64) *thread {
	g := &thread{id: goroutineBase + section.ThreadID(gr.begun), tid: m.tid, start: at, goroutine: &goroutine{id: id, last: m, row: noRow}}
	gr.begun++
	gr.byID[id], gr.awake[g] = g, true
	gr.operations.feed(section.Op{Kind: section.OpStart, Thread: g.id, Other: section.NoThread, At: unit.Cycles(at)})
	g.cpu.out(at, true)
	g.begin(at)
	return g
}

const noRow = -1

// enterGoIn: a goroutine goes on on a thread.
func (gr *goroutines) enterGoIn(m *thread, h *hook.Record, at uint64) {
	gr.goneFrom(m, at)
	g := gr.byID[h.Arg0]
	if g == nil {
		name, begins := gr.program.functionAt(h.GoExtra())
		if !begins || known.GoRuntimes(name) {
			return // the runtime's own, or one that is known when it does something
		}
		g = gr.newGoroutine(m, h.Arg0, at)
		g.name = name
	}
	gr.goesIn(m, g, at)
}

func (gr *goroutines) goesIn(m, g *thread, at uint64) {
	x := g.goroutine
	gr.mayGoOn(g, at) // nobody has told: the runtime saw that its time had come, or that there is something to read
	if x.host != nil {
		gr.goneFrom(x.host, at)
	}
	x.host, x.last, m.hosts = m, m, g
	if m.cpu.on || !gr.shared.events.switches {
		g.cpu.in(at, g.parked())
	}
}

// parked is for how long a goroutine that is off its thread waited for something but a processor.
func (t *thread) parked() rest {
	x := t.goroutine
	asleep := x.woken - min(x.woken, t.cpu.left())
	return rest{asleep: asleep, due: min(asleep, x.due)}
}

// goneFrom takes the goroutine off its thread.
func (gr *goroutines) goneFrom(m *thread, at uint64) {
	g := m.hosts
	if g == nil {
		return
	}
	g.cpu.out(at, g.goroutine.left == leftReady)
	g.goroutine.host, m.hosts = nil, nil
}

// enterGoOut: the thread looks for a goroutine to run.
func (gr *goroutines) enterGoOut(m *thread, _ *hook.Record, at uint64) { gr.goneFrom(m, at) }

// caller is the goroutine that called a function.
func (gr *goroutines) caller(m *thread, h *hook.Record, at uint64) *thread {
	if g := m.hosts; g != nil && g.goroutine.id == h.GoID() {
		gr.awaited(g, at)
		return g
	}
	g := gr.byID[h.GoID()]
	if g == nil {
		if len(gr.goSite(h).Stack) == 0 {
			return nil
		}
		g = gr.newGoroutine(m, h.GoID(), at)
	}
	gr.goneFrom(m, at)
	gr.goesIn(m, g, at)
	return g
}

// goSite is the place of a call: the callers as the record has them.
func (gr *goroutines) goSite(h *hook.Record) (s section.Site) {
	for _, ret := range gr.places.callers(h) {
		if gr.program.images.own(ret - 1) {
			s.Stack = append(s.Stack, gr.program.frame(ret))
		}
	}
	return s
}

// callers are where the open calls return to, innermost first.
func (pl *places) callers(h *hook.Record) []uint64 {
	out := []uint64{h.Caller}
	for _, ret := range h.Stack[:hook.GoFrames] {
		if ret == 0 {
			break
		}
		out = append(out, ret)
	}
	return out
}

// goArrival is an operation of a goroutine's that ends a piece.
func (gr *goroutines) goArrival(g *thread, kind section.OpKind, h *hook.Record, at, object uint64) section.Op {
	op, p := gr.operations.cutOp(g, kind, at)
	gr.operations.tellOff(g, p)
	op.Site, op.Object = gr.goSite(h), object
	return op
}

// enterGoPark: a goroutine will leave its thread, and somebody else must let it go on.
func (gr *goroutines) enterGoPark(m *thread, h *hook.Record, at uint64) {
	g := m.hosts
	if g == nil || g.goroutine.id != h.GoID() {
		if g = gr.caller(m, h, at); g == nil {
			return
		}
	}
	x := g.goroutine
	x.left, x.kind = gr.leaves(h)
	x.at = at
	x.idles(at)
	delete(gr.awake, g)
	switch {
	case x.left == leftLock && x.lock == 0, x.left == leftAwait && x.await == 0: // its call was not seen
		x.left = leftOff
	case x.left == leftOff && x.kind != "":
		x.site = gr.outsideSite(h)
	case x.left == leftTold:
		x.site = gr.goSite(h)
		gr.awaited(g, at)
		gr.operations.feed(gr.goArrival(g, section.OpWaitBegin, h, at, cmp.Or(x.list, x.id)))
	}
}

// enterGoReady: somebody lets a goroutine go on. If no goroutine does, a timer of the runtime's has
// sent to the channel for which it waits: it has slept.
func (gr *goroutines) enterGoReady(m *thread, h *hook.Record, at uint64) {
	g := gr.byID[h.Arg0]
	if g == nil {
		return
	}
	x := g.goroutine
	timer := x.left == leftTold && x.list == 0 && m.hosts == nil && gr.program.prog != nil
	gr.mayGoOn(g, at)
	if from := x.at; timer && from < at && !gr.rec.Ended(g.id) && !gr.absences.stood(from, at) {
		g.piece.addOff(offWait{kindSleep, uint64(x.site.Place()), 1, at - from})
		gr.out.paths[pathKey{gr.program.sitePath(x.site), g.row(), noSection, metricOff}] += float64(at - from)
	}
}

// mayGoOn ends a goroutine's wait. Until it has a thread it waits for a processor, and that counts
// for nobody.
func (gr *goroutines) mayGoOn(g *thread, at uint64) {
	x := g.goroutine
	was := x.left
	if was != leftReady {
		x.woken, x.due = at, at-min(x.at, at)
	}
	x.left, x.list = leftReady, 0
	gr.awake[g] = true
	g.cpu.own = false
	switch was {
	case leftLock:
		gr.goLocked(g, at)
	case leftAwait:
		gr.awaited(g, at)
	case leftOff:
		gr.goWasOff(g, at)
	case leftTold:
		op := g.op(section.OpWaitEnd, at)
		op.Idle = true
		gr.operations.feed(op)
		if g.piece.from = at; gr.rec.Ended(g.id) {
			g.begin(at)
		}
	}
}

// enterGoLock: a goroutine has to wait for a lock, if that is not given back right now.
func (gr *goroutines) enterGoLock(m *thread, h *hook.Record, at uint64) {
	if g := gr.caller(m, h, at); g != nil {
		g.goroutine.lock, g.goroutine.site = h.Arg0, gr.goSite(h)
	}
}

// goLocked takes in the end of a wait for a lock.
func (gr *goroutines) goLocked(g *thread, at uint64) {
	x := g.goroutine
	threads.LockWait{Thread: g.id, Lock: x.lock, From: x.at, To: at}.Tell(gr.operations.feed)
	waited := at - min(x.at, at)
	x.due = gr.locks.unlocks.heldUp(x.lock, x.at, at)
	g.piece.addLock(lockWait{uint64(x.site.Place()), 1, waited, x.due, x.due})
	path := gr.program.sitePath(x.site)
	gr.out.paths[pathKey{path, g.row(), noSection, "lock-wait"}] += float64(waited)
	gr.locks.table.waited(x.lock, "sync.runtime_SemacquireMutex", g.row(), uint64(x.site.Place()), path, x.due)
	gr.locks.blame(x.lock, x.at, at)
	x.lock = 0
}

// goWasOff takes in the end of a time for which a goroutine slept, or waited for something outside.
func (gr *goroutines) goWasOff(g *thread, at uint64) {
	x := g.goroutine
	from := max(x.at, g.piece.from)
	if x.kind == "" || from >= at || gr.absences.stood(from, at) {
		return
	}
	g.piece.addOff(offWait{x.kind, uint64(x.site.Place()), 1, at - from})
	gr.out.paths[pathKey{gr.program.sitePath(x.site), g.row(), noSection, metricOff}] += float64(at - from)
	x.kind = ""
}

// enterGoUnlock: a goroutine lets one go on that waits for a lock.
func (gr *goroutines) enterGoUnlock(m *thread, h *hook.Record, at uint64) {
	if g := gr.caller(m, h, at); g != nil {
		s := gr.goSite(h)
		gr.locks.unlocks.gaveBack(h.Arg0, unlock{at: at, by: g, row: g.row(), path: gr.program.sitePath(s), call: uint64(s.Place())})
	}
}

// enterGoCondWait: a goroutine puts itself on the list of a condition.
func (gr *goroutines) enterGoCondWait(m *thread, h *hook.Record, at uint64) {
	if g := gr.caller(m, h, at); g != nil {
		g.goroutine.list = h.Arg0
	}
}

// enterGoCondAll: a goroutine lets all go on that wait for a condition.
func (gr *goroutines) enterGoCondAll(m *thread, h *hook.Record, at uint64) {
	var woken []*thread
	for _, w := range gr.byID {
		if w.goroutine.left == leftTold && w.goroutine.list == h.Arg0 {
			woken = append(woken, w)
		}
	}
	g := gr.caller(m, h, at)
	if g == nil || len(woken) == 0 {
		return
	}
	slices.SortFunc(woken, func(a, b *thread) int { return cmp.Compare(a.id, b.id) })
	op := gr.goArrival(g, section.OpRelease, h, at, h.Arg0)
	for _, w := range woken {
		op.Woken = append(op.Woken, w.id)
	}
	gr.operations.feed(op)
	for _, w := range woken {
		gr.mayGoOn(w, at)
	}
}

// enterGoCount: a goroutine has done what others wait for (WaitGroup.Done, or Add of a negative
// number), or says that there will be something to wait for.
func (gr *goroutines) enterGoCount(m *thread, h *hook.Record, at uint64) {
	kind := section.OpCount
	if int64(h.GoExtra()) > 0 {
		kind = section.OpCountUp
	}
	if g := gr.caller(m, h, at); g != nil {
		op := gr.goArrival(g, kind, h, at, h.Arg0)
		if kind == section.OpCount {
			g.goroutine.idles(at)
			g.goroutine.count = op.Span.(*piece)
			g.goroutine.count.counts = true
		}
		gr.operations.feed(op)
	}
}

// idles: a goroutine that has counted down has nothing more to do, or something else. Until then it may
// have had no core to find that out.
func (x *goroutine) idles(at uint64) {
	if x.count != nil {
		x.count.idleAt, x.count = at, nil
	}
}

// enterGoAwait: a goroutine waits until all have done it. The upper half of a WaitGroup's state is
// what is still to be done.
func (gr *goroutines) enterGoAwait(m *thread, h *hook.Record, at uint64) {
	g := gr.caller(m, h, at)
	if g == nil {
		return
	}
	op := gr.goArrival(g, section.OpAwait, h, at, h.Arg0)
	op.Span.(*piece).awaits = true
	gr.operations.feed(op)
	g.goroutine.await = h.Arg0
	if h.GoExtra()>>32 == 0 {
		gr.awaited(g, at)
	}
}

// awaited: all have done what a goroutine waited for, which shows at the latest when it does
// something else.
func (gr *goroutines) awaited(g *thread, at uint64) {
	x := g.goroutine
	if x.await == 0 {
		return
	}
	op := g.op(section.OpAwaitEnd, at)
	op.Object = x.await
	x.await = 0
	gr.operations.feed(op)
	gr.out.waited(g)
	g.begin(at)
}

// enterGoEnd ends a goroutine.
func (gr *goroutines) enterGoEnd(m *thread, h *hook.Record, at uint64) {
	g := m.hosts
	if g == nil || g.goroutine.id != h.GoID() {
		return
	}
	g.goroutine.left, g.goroutine.kind = leftOff, "" // what it did last is told here
	gr.endGoroutine(g, at)
	gr.goneFrom(m, at)
}

func (gr *goroutines) endGoroutine(g *thread, at uint64) {
	g.goroutine.idles(at)
	op, p := gr.operations.cutOp(g, section.OpExit, at)
	gr.operations.tellOff(g, p)
	op.Loose = true
	g.ended, g.end = true, at
	gr.operations.feed(op)
	delete(gr.byID, g.goroutine.id)
	delete(gr.awake, g)
}

// endGo ends the goroutines that are there when the process ends.
func (gr *goroutines) endGo(at uint64) {
	ids := slices.SortedFunc(maps.Keys(gr.byID),
		func(a, b uint64) int { return cmp.Compare(gr.byID[a].id, gr.byID[b].id) })
	for _, id := range ids {
		g := gr.byID[id]
		if m := g.goroutine.host; m != nil {
			g.cpu.out(max(at, g.start), true)
			g.goroutine.host, m.hosts = nil, nil
		}
		gr.endGoroutine(g, at)
	}
}
