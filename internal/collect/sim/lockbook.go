// The locks that threads took: which data they are, where they were taken and for how long, and who
// waited for them where.

package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lime/internal/collect/known"
	"lime/internal/collect/threads"
	"lime/internal/profile"
)

// lockBook knows the locks by their addresses, and what was waited for in each call.
type lockBook struct {
	dataFinder *dataFinder
	openCalls  *openCalls
	places     *places
	images     *images
	blocks     *blockIndex
	beside     *beside
	focus      *focus
	locks      map[uint64]*lockState
	waits      map[uint64]*lockWaits
	changes    *lockChanges
}

// lockWaits is what the waits in one call were for.
type lockWaits struct {
	locks map[*lockState]uint64 // for how long
	held  map[uint64]uint64     // by the call that had taken the lock: for how long
}

// lockState is one lock.
type lockState struct {
	*lockTable
	addr    uint64
	at      place
	offset  uint64
	first   uint64 // the program's own call by which it was taken first
	open    []hold // who has it: one thread, or readers
	last    *threads.Holds[[]frameRef]
	asked   bool // whether something is to be otherwise about it; if so, change says what
	change  *LockChange
	unseen  bool // only some of the times that it is held are known
	waiting []*openWait
}

// lockTable is who waited for a lock, in which call, and who had it, by where the call returns to
// that took it.
type lockTable = threads.Lock[[]frameRef]

// hold is a time that a lock is held.
type hold struct {
	t        *thread
	fn       *fn    // that took it
	ret, rsp uint64 // where the call returns to that took it, and the stack's height there
	since    uint64
	again    int  // how often it was taken once more by who had it
	shared   bool // with other readers
}

// openWait is a wait that is not over. Up to the clock charged it is known who kept the thread
// waiting.
type openWait struct {
	t       *thread
	charged uint64
}

// lock is the state of the lock at an address, which t comes to.
func (b *lockBook) lock(t *thread, addr uint64, kind string, ret uint64) *lockState {
	s := b.locks[addr]
	if s == nil {
		s = &lockState{lockTable: threads.NewLock[[]frameRef](kind), addr: addr, first: b.places.ownCallTo(t, ret)}
		s.at, s.offset = b.dataFinder.placeOf(t, addr)
		b.locks[addr] = s
	}
	return s
}

// hasLock notes that t has a lock now, by the call that has just returned.
func (b *lockBook) hasLock(t *thread, c *call, lock uint64) {
	s := b.lock(t, lock, c.fn.Name, c.ret)
	for i := range s.open {
		if s.open[i].t == t {
			s.open[i].again++
			return
		}
	}
	if c.fn.Role != known.ReadLock {
		s.open = s.open[:0]
	}
	sp, _ := b.openCalls.height(t)
	s.open = append(s.open, hold{t: t, fn: c.fn, ret: c.ret, rsp: sp, since: t.now(), shared: c.fn.Role == known.ReadLock})
	b.changes.begins(t, b.change(lock))
}

// heldBy is the use of a lock that ends if t gives it back now, nil if none does.
func (b *lockBook) heldBy(t *thread, lock uint64) *hold {
	s := b.locks[lock]
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.open, func(h hold) bool { return h.t == t })
	if i < 0 || s.open[i].again > 0 {
		return nil
	}
	return &s.open[i]
}

// givesLock notes that t gives a lock back; false means that it still has it.
func (b *lockBook) givesLock(t *thread, lock uint64) bool {
	s := b.locks[lock]
	if s == nil {
		return true
	}
	i := slices.IndexFunc(s.open, func(h hold) bool { return h.t == t })
	if i < 0 {
		return true // somebody else had taken it, or it was taken before anybody looked
	}
	h := s.open[i]
	if h.again > 0 {
		s.open[i].again--
		return false
	}
	s.open = slices.Delete(s.open, i, i+1)
	b.changes.ends(t, b.change(lock))
	now := t.now()
	held := b.focus.lasts(t, now-min(now, h.since))
	if held == 0 && b.focus.closed() {
		s.answers(s.kept(now, b.focus))
		return true
	}
	s.last = s.Gave(threads.Side{Thread: t.id, Call: h.ret}, held)
	s.last.Made(s.kept(now, b.focus), func() []frameRef { return b.takenBy(&h) })
	return true
}

// takenBy is the calls that were open when a lock was taken: those that still are, and that by which
// it was taken.
func (b *lockBook) takenBy(h *hold) []frameRef {
	stack := []frameRef{{ret: h.ret, cfa: h.rsp}}
	if h.t.ctx == nil {
		return stack
	}
	for _, f := range b.places.stack(h.t) {
		if f.cfa > h.rsp {
			stack = append(stack, f)
		}
	}
	return stack
}

// answers makes who gave the lock back last answer for a time that others waited.
func (s *lockState) answers(waited uint64) {
	if s.last != nil {
		s.last.Waited += waited
	}
}

// kept is for how long others waited until now, when the lock is given back.
func (s *lockState) kept(now uint64, f *focus) (made uint64) {
	s.waiting = slices.DeleteFunc(s.waiting, func(w *openWait) bool { return w.t.gone || w.t.ended })
	for _, w := range s.waiting {
		if now > w.charged {
			made += f.between(w.charged, now)
			w.charged = now
		}
	}
	return made
}

// waitsForLock notes that t begins to wait for a lock that another thread has, and returns where
// that one took it.
func (b *lockBook) waitsForLock(t *thread, c *call, lock uint64) (taken uint64) {
	s := b.lock(t, lock, c.fn.Name, c.ret)
	if b.beside == nil { // else the threads' clocks say nothing of one another
		s.waiting = append(s.waiting, &openWait{t, t.now()})
	}
	if n := len(s.open); n > 0 {
		taken = s.open[n-1].ret
	}
	return taken
}

// forgetWait drops a wait that is not to be.
func (b *lockBook) forgetWait(t *thread, lock uint64) {
	s := b.locks[lock]
	s.waiting = slices.DeleteFunc(s.waiting, func(w *openWait) bool { return w.t == t })
}

// waited notes that t has waited for a lock in a call. What no release explains, who gave it back
// last answers for.
func (b *lockBook) waited(t *thread, site, lock uint64, c *call, units uint64) {
	s := b.lock(t, lock, c.fn.Name, c.ret)
	if units = b.focus.lasts(t, units); units == 0 && b.focus.closed() {
		b.forgetWait(t, lock)
		return
	}
	s.Waited(threads.Side{Thread: t.id, Call: site}, units, func() []frameRef {
		return append([]frameRef{{ret: c.ret}}, b.places.stack(t)...)
	})
	left := units
	if i := slices.IndexFunc(s.waiting, func(w *openWait) bool { return w.t == t }); i >= 0 {
		w := s.waiting[i]
		s.waiting = slices.Delete(s.waiting, i, i+1)
		left = b.focus.between(w.charged, t.now()) // the rest, or so much too much, modulo 2^64
	}
	s.answers(left)
	b.waitedIn(site, s, c.holder, units)
}

// waitedIn notes what a wait in a call was for.
func (b *lockBook) waitedIn(site uint64, s *lockState, ret, units uint64) {
	w := b.waits[site]
	if w == nil {
		w = &lockWaits{locks: map[*lockState]uint64{}, held: map[uint64]uint64{}}
		b.waits[site] = w
	}
	w.locks[s] += units
	if ret != 0 && b.images.own(ret-1) {
		w.held[b.blocks.callBefore(ret)] += units
	}
}

// words are the detail of the call's waits: the lock for which it waited most, if that is most of
// the time.
func (w *lockWaits) words(name func(*lockState) string) string {
	byName, all := map[string]uint64{}, uint64(0)
	for s, units := range w.locks {
		byName[name(s)] += units
		all += units
	}
	var out []string
	if lock := most(byName); 2*byName[lock] >= all {
		out = append(out, "on "+lock)
	}
	if len(w.held) > 0 {
		out = append(out, fmt.Sprintf("held at %#x", most(w.held)))
	}
	return strings.Join(out, "; ")
}

// most is the first of the keys that have most.
func most[K cmp.Ordered](m map[K]uint64) K {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b K) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	return keys[0]
}

// lockDetails tells what locks the threads waited for.
func (o *output) lockDetails() {
	kind := o.tables.kinds[lockWait]
	if kind == profile.None {
		return
	}
	for _, site := range slices.Sorted(maps.Keys(o.lockBook.waits)) {
		if id, ok := o.tables.events[eventKey{kind, site}]; ok {
			o.sink.SetEventDetail(id, o.lockBook.waits[site].words(o.lockBook.name))
		}
	}
}
