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
