// What is known of the locks that threads waited for: which data they are, and where they were
// taken by those who held them meanwhile.

package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lime/internal/collect/known"
	"lime/internal/profile"
	"lime/internal/section"
	"lime/internal/unit"
)

// locks knows who has which lock, and who waits for it; and the condition variables, whose waits
// give locks back.
type locks struct {
	clocks     *clocks
	dataFinder *dataFinder
	openCalls  *openCalls
	operations *operations
	places     *places
	segments   *segments
	images     *images
	blocks     *blockIndex
	beside     *beside
	freed      map[uint64]uint64  // clock at which a lock was last given back
	holders    map[uint64]*thread // who has a lock
	lockBook   *lockBook
	waiters    map[uint64]int // threads in known.CondWait, by object
}

// lockBook has a row for each call that waited for a lock.
type lockBook struct {
	took  map[uint64]uint64 // by lock: where the call returns by which its holder took it
	waits map[uint64]*lockWaits
}

// lockWaits are those of one call.
type lockWaits struct {
	data votes
	held map[uint64]uint64 // by the call that had taken the lock: for how long
}

func newLockBook() *lockBook {
	return &lockBook{took: map[uint64]uint64{}, waits: map[uint64]*lockWaits{}}
}

// taken notes where a lock is taken.
func (b *lockBook) taken(lock, ret uint64) { b.took[lock] = ret }

// willHold notes that t, in a call that takes a lock, is the next to have it. Where threads run in
// parallel only the call's return tells.
func (l *locks) willHold(t *thread, c *call) {
	if l.beside == nil {
		l.holders[c.object] = t
		l.lockBook.taken(c.object, c.ret)
	}
}

// tookLock looks whether t, which has just left its loop, has taken a lock there: it stands where a
// call returns that takes one.
func (l *locks) tookLock(t *thread) {
	if n := len(t.frames); n > 0 {
		if c := &t.frames[n-1]; c.fn.Role == known.Lock && t.ctx.RIP == c.ret && l.holders[c.object] == nil {
			l.willHold(t, c)
		}
	}
}

// holder is where the lock was taken that a thread is about to wait for, 0 if that is not known.
func (b *lockBook) holder(lock uint64) uint64 { return b.took[lock] }

// waited notes a wait of t in a call at site for the lock that was taken where a call returned to
// ret.
func (l *locks) waited(t *thread, site, lock, ret, units uint64) {
	w := l.lockBook.waits[site]
	if w == nil {
		w = &lockWaits{held: map[uint64]uint64{}}
		l.lockBook.waits[site] = w
	}
	w.data.add(l.dataFinder.placeOf(t, lock))
	if ret != 0 && l.images.own(ret-1) {
		w.held[l.blocks.callBefore(ret)] += units
	}
}

// words are the detail of the call's waits.
func (w *lockWaits) words() string {
	var out []string
	if data := w.data.words(); data != "" {
		out = append(out, "on "+strings.TrimSuffix(data, "+0x0"))
	}
	if len(w.held) > 0 {
		calls := slices.SortedFunc(maps.Keys(w.held), func(a, b uint64) int {
			return cmp.Or(cmp.Compare(w.held[b], w.held[a]), cmp.Compare(a, b))
		})
		out = append(out, fmt.Sprintf("held at %#x", calls[0]))
	}
	return strings.Join(out, "; ")
}

// lockDetails tells what locks the threads waited for.
func (o *output) lockDetails() {
	kind := o.kinds[lockWait]
	if kind == profile.None {
		return
	}
	for _, site := range slices.Sorted(maps.Keys(o.r.locks.lockBook.waits)) {
		if id, ok := o.events[eventKey{kind, site}]; ok {
			o.sink.SetEventDetail(id, o.r.locks.lockBook.waits[site].words())
		}
	}
}

// enterLock: if another thread has the lock, all until this one has it is waiting. Who comes to a
// free one has it from then on: what comes before that in the function takes a few instructions, in
// which others must not find it free.
func (l *locks) enterLock(t *thread, f *fn) {
	h := l.holders[l.openCalls.object(t, f, f.Object)]
	if h == nil || h == t {
		l.willHold(t, l.openCalls.open(t, f))
		return
	}
	l.openCalls.openSlow(t, f)
	t.still.suspect = true
	c := &t.frames[len(t.frames)-1]
	c.holder = l.lockBook.holder(c.object)
	l.beside.meetsHolder(c, h)
}

func (l *locks) enterUnlock(t *thread, f *fn) {
	lock := l.openCalls.object(t, f, f.Object)
	l.freed[lock] = t.now()
	delete(l.holders, lock)
}

// leaveLock: the lock is free at the clock at which it was last given back, even if
// that thread's slice came first.
func (l *locks) leaveLock(t *thread, c *call) {
	l.beside.gets(t, c)
	t.still.suspect = false // it was to spin in the call
	before := t.now()
	l.clocks.advance(t, l.freeAt(t, c.object))
	l.holders[c.object] = t
	l.lockBook.taken(c.object, c.ret)
	l.locked(t, c, t.now()-before)
}

// locked tells of the wait for a lock that t has got; more is what it had to wait after the call.
func (l *locks) locked(t *thread, c *call, more uint64) {
	wait := c.waited + more
	if c.slow {
		l.segments.dropSlow(t, c)
		wait = t.now() - c.at
	}
	l.tellLocked(t, c, wait)
}

func (l *locks) tellLocked(t *thread, c *call, wait uint64) {
	if wait == 0 {
		return
	}
	op := t.simple(section.OpLockBegin, c.object)
	op.At -= unit.Cycles(wait)
	l.operations.feed(op)
	l.operations.feed(t.simple(section.OpLockEnd, c.object))
	site := l.places.lockSite(t, c)
	t.noteLock(site, wait)
	l.waited(t, site, c.object, c.holder, wait)
}

// leaveReadLock: other readers may hold it, so it does not matter when it was given back.
func (l *locks) leaveReadLock(t *thread, c *call) { l.locked(t, c, 0) }

// leaveTurn: the call is a wait if it took longer than it does without one.
func (l *locks) leaveTurn(t *thread, c *call) {
	const atOnce = 500
	if c.waited > 0 || t.now()-c.at > atOnce {
		l.segments.dropSlow(t, c)
		l.tellLocked(t, c, t.now()-c.at)
	}
}

func (l *locks) leaveTryLock(t *thread, c *call) {
	if t.ctx.GPR[rax] == 0 {
		l.leaveLock(t, c)
	}
}

// freeAt is the clock before which t cannot have got a lock.
func (l *locks) freeAt(t *thread, lock uint64) uint64 {
	if l.beside != nil {
		return t.now()
	}
	return l.freed[lock]
}

// givenBack is the clock at which the lock was given back for which a thread spins in a call of the
// table, 0 if it was not.
func (l *locks) givenBack(s *spinner) uint64 {
	if n := len(s.t.frames); n > 0 && s.t.covered() {
		if lock := s.t.frames[n-1].object; l.holders[lock] == nil {
			return l.freed[lock]
		}
	}
	return 0
}
