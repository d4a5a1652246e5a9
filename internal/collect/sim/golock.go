// Locks of Go, whose first attempt is compiled into their users.

package sim

import (
	"slices"
	"strings"

	"lime/internal/collect/known"
	"lime/internal/collect/threads"
	"lime/internal/engine"
)

// enterGoLock: the thread must wait for a lock, or has met others on their way to it. All that it
// does until it has the lock is waiting, its spinning too.
func (l *locks) enterGoLock(t *thread, f *fn) {
	l.openCalls.openSlow(t, f)
	c := &t.frames[len(t.frames)-1]
	c.test = l.places.testFor(t, c.ret)
	l.lockBook.meetsGoLock(t, c)
}

// testFor is the branch that leads to the call that returns to ret and to nothing else, 0 if there
// is none. The first attempt to take a lock is compiled into its user, and the wait belongs to the
// attempt: who need not wait has made it, too.
func (pl *places) testFor(t *thread, ret uint64) (at uint64) {
	id, ok := pl.blocks.endingAt(ret)
	if !ok || !pl.images.own(ret-1) {
		return 0
	}
	edges, blocks := pl.eng.Edges(), pl.eng.Blocks()
	for _, e := range t.carry {
		d := &edges[e.id]
		if d.Target != blocks[id].PC || d.From < 0 {
			continue
		}
		test := &blocks[d.From]
		if test.End != engine.EndCond || at != 0 && at != test.LastPC {
			return 0
		}
		at = test.LastPC
	}
	return at
}

// leaveGoLock: a processor runs ahead of the others for a while, so that the lock may have been
// given back at a later clock.
func (l *locks) leaveGoLock(t *thread, c *call) {
	if !l.passesFree(t, c) {
		l.segments.dropSlow(t, c)
		l.clocks.advance(t, l.freeAt(t, c.lock))
		l.reportLocked(t, c, t.now()-c.at)
	}
	l.lockBook.hasLock(t, c, c.lock)
}

// A lock of Go's is known by the semaphore at which goroutines sleep for it. The one of a Mutex is
// its second word (sync/mutex.go).
const (
	goMutexSema  = 4
	goMutexTakes = ".(*Mutex).lockSlow"
	goMutexGives = ".(*Mutex).unlockSlow"
)

// lockObject is the lock that a call takes.
func (c *call) lockObject() uint64 {
	if c.fn.Role == known.GoLock {
		return c.lock
	}
	return c.object
}

// meetsGoLock notes that a goroutine begins to wait for a lock.
func (b *lockBook) meetsGoLock(t *thread, c *call) {
	at := t.ctx.GPR[rax]
	c.lock = at
	if strings.HasSuffix(c.fn.Name, goMutexTakes) {
		c.lock = at + goMutexSema
	}
	b.waitsForLock(t, c, c.lock)
	if s := b.locks[c.lock]; at != c.lock && !s.WaitedFor() {
		s.at, s.offset = b.dataFinder.placeOf(t, at)
	}
}

// enterGoUnlock: t gives a lock back for which others wait. The slow way to give a Mutex back lets
// the next one go on by itself.
func (l *locks) enterGoUnlock(t *thread, f *fn) {
	lock := t.ctx.GPR[rax]
	if strings.HasSuffix(f.Name, goMutexGives) {
		lock += goMutexSema
	} else if ret, ok := l.lockBook.dataFinder.memory.word(t.ctx.GPR[rsp]); ok {
		if name, _ := l.lockBook.images.function(ret - 1); strings.HasSuffix(name, goMutexGives) {
			return
		}
	}
	l.freed[lock] = t.now()
	l.lockBook.givesGoLock(t, lock)
}

// givesGoLock: who did not have to wait for a lock has taken it where nobody has seen that.
func (b *lockBook) givesGoLock(t *thread, lock uint64) {
	s := b.locks[lock]
	if s == nil {
		return
	}
	s.unseen = true
	if slices.ContainsFunc(s.open, func(h hold) bool { return h.t == t }) {
		b.givesLock(t, lock)
		return
	}
	if b.focus.closed() {
		s.answers(s.kept(t.now(), b.focus))
		return
	}
	stack := b.places.stack(t)
	s.last = s.Gave(threads.Side{Thread: t.id, Call: b.places.ownCallIn(stack)}, 0)
	s.last.Made(s.kept(t.now(), b.focus), func() []frameRef { return stack })
}
