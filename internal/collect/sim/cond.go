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
	op := l.openCalls.arrival(t, c, section.OpWaitBegin)
	l.turns.comes(t, c, &op)
	l.operations.feed(op)
	t.waitsOn, t.untyped = waitsReported, false
	c.reported = true
}

func (l *locks) leaveCondWait(t *thread, c *call) {
	l.waiters[c.object]--
	l.beside.since(t, c.at, t.turn.ended(t.readyAt))
	l.clocks.advance(t, l.freeAt(t, c.lock))
	l.holders[c.lock] = t
	l.lockBook.hasLock(t, c, c.lock)
	t.turn.goesOn(c.lock)
	l.awaiting.waitOver(t, l.places.outside(t, c))
}

func (l *locks) enterCondWake(t *thread, f *fn) {
	t.turn.kept = 0
	if l.waiters[argument(t, f.Object)] == 0 {
		return
	}
	c := l.openCalls.open(t, f)
	op := l.openCalls.arrival(t, c, section.OpRelease)
	l.operations.feed(op) // the segment; whom it woke follows
	c.reported = true
}

// leaveCondWake: the C library may have waited for those who were woken before to come out of their
// waits. With a core for each they do so at once.
func (l *locks) leaveCondWake(t *thread, c *call) {
	l.beside.comesTo(t, c)
	if c.waited > 0 {
		l.operations.reportSpun(t, c.waited)
		t.note(workWait, l.places.lockSite(t, c), c.waited)
	}
}
