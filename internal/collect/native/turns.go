// Locks and semaphores that a program makes of a futex: threads take turns there.

package native

import (
	"lime/internal/collect/native/hook"
	"lime/internal/unit"
)

// turnTaking is what the waits at a futex say of that. Two things show it.
//
// Who waits at a futex says which value its word had. Each time that a barrier opens its word changes,
// as else a thread could not tell that passage from the last one. If a thread was let go and waits for
// the same value once more, the barrier would have to have opened twice meanwhile (a word of two values
// is what it was then), and those who wait have woken twice, or have waited for the other value. If
// that was not seen the thread has not got what it was woken for, or has had it and given it back. Who wakes it then takes turns with it, if it waits there at times, too, or does
// both in one function.
//
// And a barrier opens when all have come. Who could have run since it was opened last, and has had no
// core, cannot have come again.
type turnTaking struct {
	values map[*thread]lastWait
	wakes  map[*thread]bool   // who has woken others there
	ran    map[*thread]uint64 // for how long each had run when all were woken last
	absent bool               // somebody had not come when all were woken last
	fails  int                // how often that was so
	opened int                // how often all were woken
	value  uint32             // that somebody has waited for last
	turned int                // how often that was another one than before
	repeat bool               // somebody was let go, and waited for the same value again
	place  unit.Addr          // of the program's own, where a thread stood last
}

// lastWait is a thread's last wait.
type lastWait struct {
	value          uint32
	opened, turned int
	letGo          bool // by another thread
}

// waitsInTurn notes that a thread waits at a futex, and where threads are shown to take turns.
func (cs *conditions) waitsInTurn(t *thread, m *meeting, h *hook.Record) {
	value := uint32(h.Arg1 >> 32)
	last := m.values[t]
	if m.value != value {
		m.value = value
		m.turned++
	}
	m.repeat = m.repeat || last.letGo && last.value == value && last.turned == m.turned && m.opened-last.opened < 2
	m.values[t] = lastWait{value: value, opened: m.opened, turned: m.turned}
	m.stands(t)
	if m.repeat && (m.alike(m.sites[t]) || m.both()) {
		cs.takeTurns(m)
	}
}

// takeTurns notes that threads take turns where they wait at a futex, whichever it is.
func (cs *conditions) takeTurns(m *meeting) {
	if m.place != 0 {
		cs.byTurns[m.place] = true
	}
}

// stands notes where a thread is that waits at a futex.
func (m *meeting) stands(t *thread) {
	m.place = 0
	if s := m.sites[t]; s.Library < len(s.Stack) {
		m.place = s.Stack[s.Library].Call
	}
}

// both reports whether a thread has waited at a futex and woken others there.
func (m *turnTaking) both() bool {
	for t := range m.wakes {
		if _, ok := m.values[t]; ok {
			return true
		}
	}
	return false
}

// passes looks, when a thread wakes all who wait at a futex, whether all others who were ever seen
// there can have come since that was done last.
func (cs *conditions) passes(t *thread, m *meeting, at uint64) {
	m.absent = false
	m.opened++
	for _, q := range m.order {
		ran, known := m.ran[q]
		now := q.cpu.at(at)
		m.absent = m.absent || q != t && !q.ended && known && now == ran && q.off.now.forced
		m.ran[q] = now
	}
	if m.absent {
		if m.fails++; m.fails > candidateFails {
			cs.takeTurns(m)
		}
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
	if last, ok := m.values[t]; ok {
		last.letGo = true
		m.values[t] = last
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
	if m := cs.meetings[object]; by != nil && m != nil && cs.byTurns[m.place] {
		return kindTurn
	}
	return kindWork
}
