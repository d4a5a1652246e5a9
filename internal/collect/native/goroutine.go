package native

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/section"
	"lime/internal/unit"
)

// Goroutines are threads of their own, as far as sections are concerned; the threads of Go's
// runtime only host them. The runtime tells when a goroutine goes on on a thread (execute), when
// the thread has none any more (schedule), why a goroutine stands back (gopark) and when it may go
// on (ready).

// goroutineBase is the id of the first goroutine.
const goroutineBase section.ThreadID = 1 << 24

// gopher is what is known of a goroutine only.
type gopher struct {
	id    uint64  // its descriptor
	host  *thread // the thread that it runs on, nil: none
	last  *thread // the one that it ran on last
	left  leftAs
	at    uint64 // since when
	lock  uint64 // what it is about to take, if it has to wait for it
	site  section.Site
	list  uint64 // the condition whose list it is about to be put on
	await uint64 // what it waits to be counted down
	kind  string // why it is off, "" if that is the runtime's own affair
	row   int32  // of the profile, None if it has none yet
}

// leftAs is why a goroutine left its thread.
type leftAs uint8

const (
	leftReady leftAs = iota // it may go on
	leftLock                // for a lock
	leftAwait               // until others have counted down
	leftOff                 // asleep, or for the outside world
	leftTold                // for another goroutine: OpWaitBegin
)

// gophers are the goroutines of the program.
type gophers struct {
	byID  map[uint64]*thread
	awake map[*thread]bool // those that wait for nothing but a processor
	begun int              // how many there ever were
	first uint64           // the one that stands at the beginning of the program, 0 if that has begun before
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
	if t.gopher != nil {
		return int32(t.gopher.last.id)
	}
	return int32(t.id)
}

// schedules makes a thread one of Go's runtime. The first one begins with the first goroutine.
func (r *run) schedules(t *thread, at uint64) {
	t.idle = true
	r.operations.feed(t.op(section.OpIdle, at))
	t.begin(at)
	if x := &r.gophers; t == r.roster.main() && x.first != 0 {
		r.goesIn(t, r.newGoroutine(t, x.first, at), at)
		x.first = 0
	}
}

// beginGo begins with the goroutines of a program that is watched from its beginning; main is the
// first one, 0 if it is not known.
func (r *run) beginGo(main, at uint64) {
	r.program.golang = true
	r.gophers = gophers{byID: map[uint64]*thread{}, awake: map[*thread]bool{}, first: main}
	for _, t := range r.roster.threads {
		if !t.foreign && !t.ended {
			r.schedules(t, at)
		}
	}
}

// newGoroutine takes in a goroutine of the program's own.
func (r *run) newGoroutine(m *thread, id, at uint64) *thread {
	g := &thread{id: goroutineBase + section.ThreadID(r.gophers.begun), tid: m.tid, start: at, gopher: &gopher{id: id, last: m, row: noRow}}
	r.gophers.begun++
	r.gophers.byID[id], r.gophers.awake[g] = g, true
	r.operations.feed(section.Op{Kind: section.OpStart, Thread: g.id, Other: section.NoThread, At: unit.Cycles(at)})
	g.cpu.out(at, true)
	g.begin(at)
	return g
}

const noRow = -1

// enterGoIn: a goroutine goes on on a thread.
func (r *run) enterGoIn(m *thread, h *hook.Record, at uint64) {
	r.goneFrom(m, at)
	g := r.gophers.byID[h.Arg0]
	if g == nil {
		name, begins := r.program.functionAt(h.GoExtra())
		if !begins || known.GoRuntimes(name) {
			return // the runtime's own, or one that is known when it does something
		}
		g = r.newGoroutine(m, h.Arg0, at)
		g.name = name
	}
	r.goesIn(m, g, at)
}

func (r *run) goesIn(m, g *thread, at uint64) {
	x := g.gopher
	r.mayGoOn(g, at) // nobody has told: the runtime saw that its time had come, or that there is something to read
	if x.host != nil {
		r.goneFrom(x.host, at)
	}
	x.host, x.last, m.hosts = m, m, g
	if m.cpu.on || !r.switches {
		g.cpu.in(at, 0, 0)
	}
}

// goneFrom takes the goroutine off its thread.
func (r *run) goneFrom(m *thread, at uint64) {
	g := m.hosts
	if g == nil {
		return
	}
	g.cpu.out(at, g.gopher.left == leftReady)
	g.gopher.host, m.hosts = nil, nil
}

// enterGoOut: the thread looks for a goroutine to run.
func (r *run) enterGoOut(m *thread, _ *hook.Record, at uint64) { r.goneFrom(m, at) }

// caller is the goroutine that called a function.
func (r *run) caller(m *thread, h *hook.Record, at uint64) *thread {
	if g := m.hosts; g != nil && g.gopher.id == h.GoID() {
		r.awaited(g, at)
		return g
	}
	g := r.gophers.byID[h.GoID()]
	if g == nil {
		if len(r.goSite(h).Stack) == 0 {
			return nil
		}
		g = r.newGoroutine(m, h.GoID(), at)
	}
	r.goneFrom(m, at)
	r.goesIn(m, g, at)
	return g
}

// goSite is the place of a call: the callers as the record has them.
func (r *run) goSite(h *hook.Record) (s section.Site) {
	for _, ret := range r.places.callers(h) {
		if r.program.images.own(ret - 1) {
			s.Stack = append(s.Stack, r.program.frame(ret))
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
func (r *run) goArrival(g *thread, kind section.OpKind, h *hook.Record, at, object uint64) section.Op {
	r.tellOff(g, at)
	op, _ := r.operations.cutOp(g, kind, at)
	op.Site, op.Object = r.goSite(h), object
	return op
}

// tellOff tells how much of its piece a goroutine had no processor.
func (r *run) tellOff(g *thread, at uint64) {
	op := g.op(section.OpOff, at)
	if wall, cpu := at-min(g.piece.from, at), g.cpu.at(at)-min(g.piece.cpuFrom, g.cpu.at(at)); wall > cpu {
		op.N = unit.Cycles(wall - cpu)
		r.operations.feed(op)
	}
}

// enterGoPark: a goroutine will leave its thread, and somebody else must let it go on.
func (r *run) enterGoPark(m *thread, h *hook.Record, at uint64) {
	g := m.hosts
	if g == nil || g.gopher.id != h.GoID() {
		if g = r.caller(m, h, at); g == nil {
			return
		}
	}
	x := g.gopher
	x.left, x.kind = r.leaves(h)
	x.at = at
	delete(r.gophers.awake, g)
	switch {
	case x.left == leftLock && x.lock == 0, x.left == leftAwait && x.await == 0: // its call was not seen
		x.left = leftOff
	case x.left == leftOff && x.kind != "":
		x.site = r.outsideSite(h)
	case x.left == leftTold:
		x.site = r.goSite(h)
		r.awaited(g, at)
		r.operations.feed(r.goArrival(g, section.OpWaitBegin, h, at, cmp.Or(x.list, x.id)))
	}
}

// leaves tells why a goroutine stands back, by the functions of the runtime that it is in, and what
// kind of time off a core that is.
func (r *run) leaves(h *hook.Record) (as leftAs, kind string) {
	for _, ret := range r.places.callers(h) {
		_, s, ok := r.program.images.symbol(ret - 1)
		for _, w := range parkings() {
			if ok && strings.Contains(s.Name, w.name) {
				return w.as, ""
			}
		}
		if ok && known.GoWaitsOutside(s.Name) {
			return leftOff, outsideKind(s.Name)
		}
		if r.program.images.own(ret - 1) { // of the runtime's packages, that is time.Sleep, too
			break
		}
	}
	return leftTold, ""
}

// outsideSite is the place of a call that waits for something outside, without the functions of the
// runtime's packages that are there for that.
func (r *run) outsideSite(h *hook.Record) section.Site {
	s := r.goSite(h)
	for len(s.Stack) > 1 {
		_, sym, ok := r.program.images.symbol(uint64(s.Stack[0].Call))
		if !ok || !known.GoWaitsOutside(sym.Name) {
			break
		}
		s.Stack = s.Stack[1:]
	}
	return s
}

// outsideKind is what a goroutine waits for that waits for something outside: a time, or files. The
// collection of garbage is the runtime's own affair.
func outsideKind(function string) string {
	switch {
	case strings.Contains(function, "leep"):
		return kindSleep
	case strings.Contains(function, "poll"):
		return kindIO
	}
	return ""
}

// parking is a function in which goroutines wait that nothing but its name tells of.
type parking struct {
	name string
	as   leftAs
}

func parkings() []parking {
	return []parking{
		{"runtime_SemacquireMutex", leftLock},
		{"runtime_SemacquireRWMutex", leftLock},
		{"sync.(*WaitGroup).Wait", leftAwait},
	}
}

// enterGoReady: somebody lets a goroutine go on. If no goroutine does, a timer of the runtime's has
// sent to the channel for which it waits: it has slept.
func (r *run) enterGoReady(m *thread, h *hook.Record, at uint64) {
	g := r.gophers.byID[h.Arg0]
	if g == nil {
		return
	}
	x := g.gopher
	timer := x.left == leftTold && x.list == 0 && m.hosts == nil && r.program.prog != nil
	r.mayGoOn(g, at)
	if from := x.at; timer && from < at && !r.rec.Ended(g.id) && !r.absences.stood(from, at) {
		g.piece.addOff(offWait{kindSleep, uint64(x.site.Place()), 1, at - from})
		r.out.paths[pathKey{r.program.sitePath(x.site), g.row(), noSection, metricOff}] += float64(at - from)
	}
}

// mayGoOn ends a goroutine's wait. Until it has a thread it waits for a processor, and that counts
// for nobody.
func (r *run) mayGoOn(g *thread, at uint64) {
	x := g.gopher
	was := x.left
	x.left, x.list = leftReady, 0
	r.gophers.awake[g] = true
	g.cpu.own = false
	switch was {
	case leftLock:
		r.goLocked(g, at)
	case leftAwait:
		r.awaited(g, at)
	case leftOff:
		r.goWasOff(g, at)
	case leftTold:
		op := g.op(section.OpWaitEnd, at)
		op.Idle = true
		r.operations.feed(op)
		if g.piece.from = at; r.rec.Ended(g.id) {
			g.begin(at)
		}
	}
}

// enterGoLock: a goroutine has to wait for a lock, if that is not given back right now.
func (r *run) enterGoLock(m *thread, h *hook.Record, at uint64) {
	if g := r.caller(m, h, at); g != nil {
		g.gopher.lock, g.gopher.site = h.Arg0, r.goSite(h)
	}
}

// goLocked takes in the end of a wait for a lock.
func (r *run) goLocked(g *thread, at uint64) {
	x := g.gopher
	begin, end := g.op(section.OpLockBegin, x.at), g.op(section.OpLockEnd, at)
	begin.Object, end.Object = x.lock, x.lock
	r.operations.feed(begin)
	r.operations.feed(end)
	waited := at - min(x.at, at)
	g.piece.addLock(lockWait{uint64(x.site.Place()), 1, waited, waited, waited})
	path := r.program.sitePath(x.site)
	r.out.paths[pathKey{path, g.row(), noSection, "lock-wait"}] += float64(waited)
	r.locks.table.waited(x.lock, "sync.runtime_SemacquireMutex", g.row(), uint64(x.site.Place()), path, waited)
	r.locks.blame(x.lock, x.at, at)
	x.lock = 0
}

// goWasOff takes in the end of a time for which a goroutine slept, or waited for something outside.
func (r *run) goWasOff(g *thread, at uint64) {
	x := g.gopher
	from := max(x.at, g.piece.from)
	if x.kind == "" || from >= at || r.absences.stood(from, at) {
		return
	}
	g.piece.addOff(offWait{x.kind, uint64(x.site.Place()), 1, at - from})
	r.out.paths[pathKey{r.program.sitePath(x.site), g.row(), noSection, metricOff}] += float64(at - from)
	x.kind = ""
}

// enterGoUnlock: a goroutine lets one go on that waits for a lock.
func (r *run) enterGoUnlock(m *thread, h *hook.Record, at uint64) {
	if g := r.caller(m, h, at); g != nil {
		s := r.goSite(h)
		r.locks.unlocks.gaveBack(h.Arg0, unlock{at: at, row: g.row(), path: r.program.sitePath(s), call: uint64(s.Place())})
	}
}

// enterGoCondWait: a goroutine puts itself on the list of a condition.
func (r *run) enterGoCondWait(m *thread, h *hook.Record, at uint64) {
	if g := r.caller(m, h, at); g != nil {
		g.gopher.list = h.Arg0
	}
}

// enterGoCondAll: a goroutine lets all go on that wait for a condition.
func (r *run) enterGoCondAll(m *thread, h *hook.Record, at uint64) {
	var woken []*thread
	for _, w := range r.gophers.byID {
		if w.gopher.left == leftTold && w.gopher.list == h.Arg0 {
			woken = append(woken, w)
		}
	}
	g := r.caller(m, h, at)
	if g == nil || len(woken) == 0 {
		return
	}
	slices.SortFunc(woken, func(a, b *thread) int { return cmp.Compare(a.id, b.id) })
	op := r.goArrival(g, section.OpRelease, h, at, h.Arg0)
	for _, w := range woken {
		op.Woken = append(op.Woken, w.id)
	}
	r.operations.feed(op)
	for _, w := range woken {
		r.mayGoOn(w, at)
	}
}

// enterGoCount: a goroutine has done what others wait for (WaitGroup.Done, or Add of a negative
// number), or says that there will be something to wait for.
func (r *run) enterGoCount(m *thread, h *hook.Record, at uint64) {
	kind := section.OpCount
	if int64(h.GoExtra()) > 0 {
		kind = section.OpCountUp
	}
	if g := r.caller(m, h, at); g != nil {
		r.operations.feed(r.goArrival(g, kind, h, at, h.Arg0))
	}
}

// enterGoAwait: a goroutine waits until all have done it. The upper half of a WaitGroup's state is
// what is still to be done.
func (r *run) enterGoAwait(m *thread, h *hook.Record, at uint64) {
	g := r.caller(m, h, at)
	if g == nil {
		return
	}
	r.operations.feed(r.goArrival(g, section.OpAwait, h, at, h.Arg0))
	g.gopher.await = h.Arg0
	if h.GoExtra()>>32 == 0 {
		r.awaited(g, at)
	}
}

// awaited: all have done what a goroutine waited for, which shows at the latest when it does
// something else.
func (r *run) awaited(g *thread, at uint64) {
	x := g.gopher
	if x.await == 0 {
		return
	}
	op := g.op(section.OpAwaitEnd, at)
	op.Object = x.await
	x.await = 0
	r.operations.feed(op)
	r.out.waited(g)
	g.begin(at)
}

// enterGoEnd ends a goroutine.
func (r *run) enterGoEnd(m *thread, h *hook.Record, at uint64) {
	g := m.hosts
	if g == nil || g.gopher.id != h.GoID() {
		return
	}
	g.gopher.left, g.gopher.kind = leftOff, "" // what it did last is told here
	r.endGoroutine(g, at)
	r.goneFrom(m, at)
}

func (r *run) endGoroutine(g *thread, at uint64) {
	r.tellOff(g, at)
	op, _ := r.operations.cutOp(g, section.OpExit, at)
	op.Loose = true
	g.ended, g.end = true, at
	r.operations.feed(op)
	delete(r.gophers.byID, g.gopher.id)
	delete(r.gophers.awake, g)
}

// endGo ends the goroutines that are there when the process ends.
func (r *run) endGo(at uint64) {
	ids := slices.SortedFunc(maps.Keys(r.gophers.byID),
		func(a, b uint64) int { return cmp.Compare(r.gophers.byID[a].id, r.gophers.byID[b].id) })
	for _, id := range ids {
		g := r.gophers.byID[id]
		if m := g.gopher.host; m != nil {
			g.cpu.out(max(at, g.start), true)
			g.gopher.host, m.hosts = nil, nil
		}
		r.endGoroutine(g, at)
	}
}

// sampledScheduler takes a sample of a thread of the runtime's that hosts no goroutine of the
// program's.
func (r *run) sampledScheduler(t *thread, x *item) {
	metric := "time"
	if x.spins {
		metric = "wait"
	}
	r.out.paths[pathKey{x.sample.path, int32(t.id), noSection, metric}] += float64(x.sample.nanos)
}
