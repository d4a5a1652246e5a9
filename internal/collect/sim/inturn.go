// Conditions at which threads take turns: all who wait are woken, one of them goes on, and the
// others wait again. A barrier lets all go on.

package sim

import (
	"lime/internal/section"
	"lime/internal/unit"
)

// inTurn knows where that is so.
type inTurn struct {
	places *places
	roster *roster
	taken  map[unit.Addr]bool // by the place that waits
}

// turnState is a thread's waits for conditions.
type turnState struct {
	object uint64             // the condition
	place  unit.Addr          // where it waits, or did last
	woken  bool               // a thread has ended that wait
	at     uint64             // woken: by its clock
	kept   uint64             // woken: the lock that it has had since, if it has let nobody go meanwhile
	places map[unit.Addr]bool // where it has waited
}

// comes notes where a thread is about to wait for a condition. If it was woken there, and has kept
// the lock since, it has found that what it waits for has not happened: whoever goes on gives the
// lock back, or lets others go.
func (ts *inTurn) comes(t *thread, c *call, op *section.Op) {
	op.Site.Library = ts.places.inLibrary(&op.Site)
	place, x := ownPlace(&op.Site), &t.turn
	if place != 0 && x.place == place && x.object == c.object && x.kept == c.lock && c.lock != 0 {
		op.Again, ts.taken[place] = true, true
	}
	if x.places == nil {
		x.places = map[unit.Addr]bool{}
	}
	x.object, x.place, x.woken, x.kept, x.places[place] = c.object, place, false, 0, true
}

// goesOn notes that a thread has come out of such a wait, and has its lock.
func (x *turnState) goesOn(lock uint64) {
	if x.woken {
		x.kept = lock
	}
}

// ended is the clock at which such a wait was ended: by who woke the thread, and not by who let it
// have its lock again, for which it may have had to wait then. If time was up, it could go on at a
// clock.
func (x *turnState) ended(could uint64) uint64 {
	if x.woken {
		return x.at
	}
	return could
}

// gives notes that a thread gives a lock back.
func (x *turnState) gives(lock uint64) {
	if x.kept == lock {
		x.kept = 0
	}
}

// lets notes that a thread wakes others. It reports whether they take turns where they wait, and
// whether by waits there itself at times.
func (ts *inTurn) lets(by *thread, woken []section.ThreadID) (handed, peer bool) {
	for _, id := range woken {
		x := &ts.roster.threads[id].turn
		if !x.woken {
			x.woken, x.at = true, by.now()
		}
		if ts.taken[x.place] {
			handed, peer = true, peer || by.turn.places[x.place]
		}
	}
	return handed, peer
}
