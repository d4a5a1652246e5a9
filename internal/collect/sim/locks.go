// Locks: who has them, and who waits for them.

package sim

import (
	"lime/internal/collect/known"
	"lime/internal/collect/threads"
)

// locks knows who has which lock, and who waits for it; and the condition variables, whose waits
// give locks back.
type locks struct {
	clocks     *clocks
	openCalls  *openCalls
	operations *operations
	places     *places
	segments   *segments
	awaiting   *awaiting
	beside     *beside
	freed      map[uint64]uint64  // clock at which a lock was last given back
	holders    map[uint64]*thread // who has a lock
	lockBook   *lockBook
	waiters    map[uint64]int // threads in known.CondWait, by object
	turns      *inTurn
}

// willHold notes that t, in a call that takes a lock, is the next to have it. Where threads run in
// parallel only the call's return tells.
func (l *locks) willHold(t *thread, c *call) {
	if l.beside == nil {
		l.holders[c.object] = t
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

// enterLock: if another thread has the lock, all until this one has it is waiting. Who comes to a
// free one has it from then on: what comes before that in the function takes a few instructions, in
// which others must not find it free.
func (l *locks) enterLock(t *thread, f *fn) {
	h := l.holders[l.openCalls.object(t, f, f.Object)]
	switch {
	case h == nil && f.Role == known.ReadLock: // others may have it with this one
		l.openCalls.open(t, f)
		return
	case h == nil || h == t:
		l.willHold(t, l.openCalls.open(t, f))
		return
	}
	l.openCalls.openSlow(t, f)
	t.still.suspect = true
	c := &t.frames[len(t.frames)-1]
	c.holder = l.lockBook.waitsForLock(t, c, c.object)
}

func (l *locks) enterUnlock(t *thread, f *fn) {
	lock := l.openCalls.object(t, f, f.Object)
	l.replay(t, lock)
	t.turn.gives(lock)
	if !l.lockBook.givesLock(t, lock) {
		return
	}
	l.freed[lock] = t.now()
	delete(l.holders, lock)
}

// leaveLock: the lock is free at the clock at which it was last given back, even if
// that thread's slice came first.
func (l *locks) leaveLock(t *thread, c *call) {
	l.beside.comesTo(t, c)
	t.still.suspect = false // it was to spin in the call
	l.holders[c.object] = t
	if !l.passesFree(t, c) {
		before := t.now()
		l.clocks.advance(t, l.freeAt(t, c.object))
		l.locked(t, c, t.now()-before)
	}
	l.lockBook.hasLock(t, c, c.object)
}

// passesFree lets t go on as if it had not waited, if nobody is to wait for the lock.
func (l *locks) passesFree(t *thread, c *call) bool {
	if x := l.lockBook.change(c.lockObject()); x == nil || !x.Free || !c.slow && c.waited == 0 {
		return false
	}
	if c.slow {
		l.segments.dropSlow(t, c)
	}
	l.lockBook.forgetWait(t, c.lockObject())
	l.clocks.backTo(t, c.at)
	return true
}

// locked tells of the wait for a lock that t has got; more is what it had to wait after the call.
func (l *locks) locked(t *thread, c *call, more uint64) {
	wait := c.waited + more
	if c.slow {
		l.segments.dropSlow(t, c)
		wait = t.now() - c.at
	}
	l.reportLocked(t, c, wait)
}

func (l *locks) reportLocked(t *thread, c *call, wait uint64) {
	if wait == 0 {
		return
	}
	threads.LockWait{Thread: t.id, Lock: c.object, From: t.now() - wait, To: t.now()}.Tell(l.operations.feed)
	site := l.places.lockSite(t, c)
	t.noteLock(site, wait)
	l.lockBook.waited(t, site, c.lockObject(), c, wait)
}

// leaveReadLock: other readers may hold it, so it does not matter when it was given back.
func (l *locks) leaveReadLock(t *thread, c *call) {
	l.locked(t, c, 0)
	l.lockBook.hasLock(t, c, c.object)
}

// leaveTurn: the call is a wait if it took longer than it does without one.
func (l *locks) leaveTurn(t *thread, c *call) {
	if l.tookTurn(t, c) {
		l.reportLocked(t, c, t.now()-c.at)
	}
}

// leaveAfter: what is waited for is the work of others, and nobody is kept out of anything.
func (l *locks) leaveAfter(t *thread, c *call) {
	if l.tookTurn(t, c) {
		l.operations.reportSpun(t, t.now()-c.at)
		t.note(workWait, l.places.lockSite(t, c), t.now()-c.at)
	}
}

// tookTurn reports whether a call was a wait: then what was done in it is no work.
func (l *locks) tookTurn(t *thread, c *call) bool {
	const atOnce = 500
	if c.waited == 0 && t.now()-c.at <= atOnce {
		return false
	}
	l.segments.dropSlow(t, c)
	return true
}

func (l *locks) leaveTryLock(t *thread, c *call) {
	if t.ctx.GPR[rax] == 0 {
		l.leaveLock(t, c)
	}
}

// freeAt is the clock before which t cannot have got a lock.
func (l *locks) freeAt(t *thread, lock uint64) uint64 {
	if l.beside != nil {
		return l.beside.lines[lock].free(t.now())
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
