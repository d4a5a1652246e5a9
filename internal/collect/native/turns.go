// Locks and semaphores that a program makes of a futex: threads take turns there.

package native

import (
	"lime/internal/collect/native/hook"
	"lime/internal/unit"
)

// turnTaking is what the waits at a futex say of that. Two things show it.
//
// Who waits at a futex says which value its word had. Each time that a barrier opens its word
// changes, as else a thread could not tell that passage from the last one. If a thread was let go
// and waits for the same value once more, the barrier would have to have opened twice meanwhile (a
// word of two values is what it was then), and those who wait have woken twice, or have waited for
// the other value. If that was not seen the thread has not got what it was woken for, or has had it
// and given it back. Who wakes it then takes turns with it, if it waits there at times, too; who
// only wakes others has done what they wait for. That holds for the function in which it waited
// both times: memory is used again, and where another one waits the word may be a barrier's.
//
// And a barrier opens when all have come. Who had come the time before, could have run since, and has had
// no core, cannot have come again. Either it has left the barrier, or this is none: then it comes again.
type turnTaking struct {
	waits  map[waiter]lastWait
	wakes  map[*thread]bool // who has woken others there
	last   map[*thread]sight
	absent bool               // somebody had not come when all were woken last
	fails  int                // how often somebody was absent that came again
	opened int                // how often all were woken
	value  uint32             // that somebody has waited for last
	turned int                // how often that was another one than before
	repeat map[unit.Addr]bool // functions in which somebody was let go, and waited for the same value again
	place  waitPlace          // where a thread stood last
}

// newTurnTaking knows nothing yet.
func newTurnTaking() turnTaking {
	return turnTaking{waits: map[waiter]lastWait{}, wakes: map[*thread]bool{}, last: map[*thread]sight{}, repeat: map[unit.Addr]bool{}}
}

// waiter is a thread in a function.
type waiter struct {
	*thread
	in unit.Addr
}

// lastWait is a thread's last wait in a function.
type lastWait struct {
	value          uint32
	opened, turned int
	letGo          bool // by another thread
}

// waitPlace is where threads wait, whatever the word is: a place of the program's own, and the
// calls that lead from there to the futex in the language's library. One call of a channel's may
// wait for the channel's lock, and for a message.
type waitPlace struct {
	own   unit.Addr
	below uint64 // a hash of these calls
}

// sight is what was seen of a thread.
type sight struct {
	opened int    // how often all had been woken when it came last
	ran    uint64 // for how long it had run when all were woken last
	known  bool
	absent bool // it had not come by some time since
}

// waitsInTurn notes that a thread waits at a futex, and where threads are shown to take turns.
func (cs *conditions) waitsInTurn(t *thread, m *meeting, h *hook.Record) {
	value := uint32(h.Arg1 >> 32)
	here := waiter{t, m.function(t)}
	last := m.waits[here]
	if m.value != value {
		m.value = value
		m.turned++
	}
	if last.letGo && last.value == value && last.turned == m.turned && m.opened-last.opened < 2 {
		m.repeat[here.in] = true
	}
	m.waits[here] = lastWait{value: value, opened: m.opened, turned: m.turned}
	m.stands(t)
	m.comes(t)
	if m.sem == nil && cs.places.site(h).permit {
		m.sem = &semaphore{guessed: &guessed{}}
	}
	if m.sem != nil {
		m.waitsForPermit(t, h.Arg0, len(cs.waiters[h.Arg0]))
	}
	if m.sem != nil || m.fails > candidateFails || m.repeat[here.in] && m.both() {
		cs.takeTurns(m)
	}
}

// comes notes that a thread is there. If it was not when all were woken, that was no barrier's opening.
func (m *turnTaking) comes(t *thread) {
	s := m.last[t]
	if s.absent {
		m.fails++
	}
	s.opened, s.absent = m.opened, false
	m.last[t] = s
}

// function is the one in which a thread waits.
func (m *meeting) function(t *thread) unit.Addr {
	if s := m.sites[t]; len(s.Stack) > 0 {
		return s.Stack[0].Func
	}
	return 0
}

// takeTurns notes that threads take turns where they wait at a futex, whichever it is.
func (cs *conditions) takeTurns(m *meeting) {
	if m.place.own != 0 {
		cs.byTurns[m.place] = true
	}
}

// stands notes where a thread is that waits at a futex.
func (m *meeting) stands(t *thread) {
	m.place = waitPlace{}
	if s := m.sites[t]; s.Library < len(s.Stack) {
		m.place.own = s.Stack[s.Library].Call
		for _, f := range s.Stack[:s.Library] {
			m.place.below = (m.place.below ^ uint64(f.Call)) * fnvPrime
		}
	}
}

// both reports whether a thread has waited at a futex and woken others there.
func (m *turnTaking) both() bool {
	for w := range m.waits {
		if m.wakes[w.thread] {
			return true
		}
	}
	return false
}

// passes looks, when a thread wakes all who wait at a futex, whether all others who had come by the time
// that was done last can have come since.
func (cs *conditions) passes(t *thread, m *meeting, at uint64) {
	m.absent = false
	m.comes(t)
	for _, q := range m.order {
		s, now := m.last[q], q.cpu.at(at)
		if q != t && !q.ended && s.known && now == s.ran && q.off.now.forced && m.opened-s.opened < 2 {
			m.absent, s.absent = true, true
		}
		s.ran, s.known = now, true
		m.last[q] = s
	}
	m.opened++
	if m.fails > candidateFails {
		cs.takeTurns(m)
	}
}

// wakesBy notes that a thread wakes those who wait at a futex.
func (m *meeting) wakesBy(t *thread) {
	if m != nil {
		m.wakes[t] = true
	}
}

// letGo notes that a thread's wait is over, and whether another one has ended it.
func (m *meeting) letGo(t, by *thread) {
	if m == nil || by == nil {
		return
	}
	here := waiter{t, m.function(t)}
	if last, ok := m.waits[here]; ok {
		last.letGo = true
		m.waits[here] = last
	}
}

// inTurn reports whether threads take turns where they wait at a futex, or not all have come to it
// who would come to a barrier.
func (cs *conditions) inTurn(object uint64) bool {
	m := cs.meetings[object]
	return m != nil && (m.absent || cs.byTurns[m.place])
}

// waitedFor is the kind of a wait that is over.
func (cs *conditions) waitedFor(object uint64, by *thread) string {
	m := cs.meetings[object]
	switch {
	case by == nil || m == nil || !cs.byTurns[m.place]:
		return kindWork
	case m.sem != nil && !m.sem.waiters[by]: // it hands something on, as far as is known
		return kindWork
	}
	return kindTurn
}
