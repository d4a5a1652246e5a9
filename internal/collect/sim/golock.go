// Locks of Go, whose first attempt is compiled into their users.

package sim

import "lime/internal/engine"

// enterGoLock: the thread must wait for a lock, or has met others on their way to it. All that it
// does until it has the lock is waiting, its spinning too.
func (l *locks) enterGoLock(t *thread, f *fn) {
	l.openCalls.openSlow(t, f)
	c := &t.frames[len(t.frames)-1]
	c.test = l.places.testFor(t, c.ret)
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

func (l *locks) leaveGoLock(t *thread, c *call) {
	l.segments.dropSlow(t, c)
	l.tellLocked(t, c, t.now()-c.at)
}
