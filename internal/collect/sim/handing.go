// What is handed to one at a time, as a lock or a permit is: who lets a waiting thread go opens no
// barrier then. It shows by who lets whom go.

package sim

import (
	"cmp"
	"slices"

	"lime/internal/collect/known"
	"lime/internal/engine"
	"lime/internal/section"
	"lime/internal/unit"
)

// handing knows where that is so.
type handing struct {
	barriers  *barriers
	beside    *beside
	memory    *memory
	eng       *engine.Engine
	contended map[unit.Addr]bool // by the place that waits: who is let go may find that another one has it
}

// wakeState is a thread's waits for futexes, and what let it go.
type wakeState struct {
	object uint64    // at which it waits
	let    uint64    // at which it was let go last
	letAt  uint64    // what it had worked by then
	told   bool      // since then it has ended others' waits, or what it did is not known
	handed unit.Addr // where it waits for what is handed to one at a time, 0: for something else
	// semaphore is where it waits for one, which hands to one at a time by what it is: whoever gives one
	// back may still be the last at a barrier that is made of them.
	semaphore unit.Addr
	places    map[unit.Addr]bool // where it has waited
	turns     bool               // who has let it go waits there at times, too
	others    bool               // it was a thread of the program that has let it go
	what      awaited            // what it has waited for, if that was others' work
}

// waitedFor is what a wait for a futex was for that was not for work to do: whoever is woken by a
// thread has waited for that one, and is off its core only otherwise.
func (w *wakeState) waitedFor() waitEvent {
	switch {
	case !w.others:
		return offCPU
	case w.turns:
		return permitWait
	}
	return workWait
}

// lets is told that by has ended the waits of others. Who lets somebody out of a barrier has come
// to it, too; who does so from outside has given something back, or handed it over.
func (h *handing) lets(by *thread, woken []*thread) {
	by.wake.told = true
	for _, t := range woken {
		n := len(t.frames)
		if n == 0 || t.frames[n-1].candidate == nil {
			continue
		}
		switch g := t.frames[n-1].candidate; {
		case g.state == candidateRefuted || by.inside(g) || g.last == by:
		case g.state == candidateKnown:
			h.barriers.refute(g)
		default:
			g.given = g.given || g.whole // else by may have gone in before this was watched
			h.barriers.failRound(g)
		}
	}
}

// inside reports whether t has come to a candidate and not left it.
func (t *thread) inside(g *candidate) bool {
	return slices.ContainsFunc(t.frames, func(c call) bool { return c.candidate == g })
}

// letGo notes that t need not wait any longer.
func (h *handing) letGo(t *thread) {
	t.wake.let, t.wake.letAt, t.wake.told = t.wake.object, t.busy, false
}

// comes notes where t is about to wait, and whether what it waits for is handed to one at a time.
// Either all functions around the wait are none of a barrier, and somebody was let out of each by one
// who had not gone in; or somebody who was let go there had to wait again, as others had taken
// it: since then it has told nobody that it has come anew (p holds what it has done).
func (h *handing) comes(t *thread, op *section.Op, p *segment) {
	t.wake.handed, t.wake.semaphore, t.wake.turns = 0, 0, false
	place := ownPlace(&op.Site)
	if place == 0 {
		return
	}
	if !h.contended[place] && t.wake.let == op.Object && (h.soon(t) || !t.wake.told && !h.told(p)) {
		h.contended[place] = true
	}
	if t.wake.places == nil {
		t.wake.places = map[unit.Addr]bool{}
	}
	t.wake.places[place] = true
	if h.contended[place] || h.givenTo(&op.Site) {
		t.wake.handed = place
	} else if t.in(known.SemWait) != nil {
		t.wake.semaphore = place
	}
}

// soon reports, where threads run in parallel, whether t was let go so shortly before that it has
// hardly worked: passages of barriers that lie so close are found by their functions or ways there.
func (h *handing) soon(t *thread) bool {
	return h.beside != nil && t.busy-t.wake.letAt < candidateLength
}

// ownPlace is the innermost call of the program's own around a wait, 0 if there is none: through the
// language's library threads come to the same wait for locks, barriers and all.
func ownPlace(s *section.Site) unit.Addr {
	if s.Library >= len(s.Stack) {
		return 0
	}
	return s.Stack[s.Library].Call
}

// givenTo reports whether all functions around a wait are none of a barrier, as others let threads
// out of them. One at least is not the language's: a barrier may be written out further out.
func (h *handing) givenTo(site *section.Site) bool {
	entries := h.barriers.around(site)
	return slices.Contains(entries, uint64(site.Stack[site.Library].Func)) && !slices.ContainsFunc(entries, func(entry uint64) bool {
		g := h.barriers.candidates[entry]
		return g == nil || g.state != candidateRefuted || !g.given
	})
}

// hands reports whether by hands something to one of those whose waits for an object it ends, and
// whether it waits at such a place itself at times: then they have not waited for work to do.
func (h *handing) hands(by *thread, woken []*thread, object uint64) (handed, peer bool) {
	for _, t := range woken {
		at := cmp.Or(t.wake.handed, t.wake.semaphore)
		if at == 0 || t.waitsOn != waitsReported || t.object != object {
			continue
		}
		mine := by.wake.places[at]
		if mine && by.wake.passesOn(object, by.busy) {
			mine = by.wake.turns
		}
		t.untyped, t.wake.turns = t.untyped || mine, mine
		if t.wake.handed != 0 {
			handed, peer = true, peer || mine
		}
	}
	return handed, peer
}

// passesOn reports whether a thread that lets another one go has hardly had what it was let go for
// itself: as at a turnstile, through which each lets the next one. Both have waited for the same then.
func (w *wakeState) passesOn(object, busy uint64) bool {
	return w.let == object && busy-w.letAt < candidateLength
}
