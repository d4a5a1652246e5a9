// Which threads have done what they were made for, and only have to end.

package sim

import (
	"slices"

	"lime/internal/section"
)

// enterThrough notes that a thread says so itself.
func (ws *waits) enterThrough(t *thread, _ *fn) { t.through = true }

// through lists the threads that are, of those who have the same creator as by, if by wakes that
// one.
func (ws *waits) through(by *thread, woken []section.ThreadID) (out []section.ThreadID) {
	if by.parent == nil || !slices.Contains(woken, by.parent.id) || !ws.isThrough(by) {
		return nil
	}
	for _, t := range ws.roster.threads {
		if t.parent == by.parent && ws.isThrough(t) {
			out = append(out, t.id)
		}
	}
	return out
}

// mayBeForScope reports whether t, which waits, has made threads that are not through, in a program
// in which they say so when they are: that it is the last of them that lets t go is known only then,
// and t's wait has to be known from its beginning.
func (ws *waits) mayBeForScope(t *thread) bool {
	return ws.openCalls.scopes && slices.ContainsFunc(ws.roster.threads, func(o *thread) bool {
		return o.parent == t && !o.through && !o.gone && !o.ended
	})
}

// isThrough reports whether a thread has said so, or has come back from its own function: no call
// of the program's own is open in it. Where threads run in parallel nobody can look at another one.
func (ws *waits) isThrough(t *thread) bool {
	if t.through || ws.beside != nil {
		return t.through
	}
	return t.ctx != nil && !t.gone && !t.ended && !t.blocked && t.birth == bornAtHome && t.goroutine == nil &&
		t.hosts == nil && !t.idle &&
		!ws.images.own(t.ctx.RIP) && ws.places.ownReturn(ws.places.stack(t)) == nil
}
