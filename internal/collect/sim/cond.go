// Condition variables, which give a lock back while a thread waits.

package sim

import "lime/internal/section"

func (l *locks) enterCondWait(t *thread, f *fn) {
	c := l.openCalls.open(t, f)
	c.lock = argument(t, f.Second)
	l.replay(t, c.lock)
	l.lockBook.givesLock(t, c.lock)
	l.freed[c.lock] = t.now()
	delete(l.holders, c.lock)
	l.waiters[c.object]++
	l.operations.feed(l.openCalls.arrival(t, c, section.OpWaitBegin))
	t.waitsOn, t.untyped = waitsReported, false
	c.reported = true
}

func (l *locks) leaveCondWait(t *thread, c *call) {
	l.waiters[c.object]--
	l.beside.since(t, c.at, t.readyAt)
	l.clocks.advance(t, l.freeAt(t, c.lock))
	l.holders[c.lock] = t
	l.lockBook.hasLock(t, c, c.lock)
	l.segments.waitOver(t, l.places.outside(t, c))
}

func (l *locks) enterCondWake(t *thread, f *fn) {
	if l.waiters[argument(t, f.Object)] == 0 {
		return
	}
	c := l.openCalls.open(t, f)
	op := l.openCalls.arrival(t, c, section.OpRelease)
	l.operations.feed(op) // the segment; whom it woke follows
	c.reported = true
}
