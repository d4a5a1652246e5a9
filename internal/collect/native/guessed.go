// Semaphores that are made of a futex, as C++20's are, whose calls are compiled into the program. Seen
// are the waits, and that somebody gives a permit back when there is none left.

package native

import (
	"fmt"
	"slices"

	"lime/internal/collect"
	"lime/internal/unit"
)

// guessed is what is seen of such a semaphore.
type guessed struct {
	waiters, givers map[*thread]bool
	asleep          int                // the most that have waited at once
	last            map[*thread]uint64 // the CPU time at which a thread had certainly no permit last
	known           []uint64           // for how long those had one who had waited for it
	wall            uint64             // ns that threads have waited
}

// waitsForPermit notes that a thread waits, with so many others. All permits are with threads that do
// not wait then, so that there are no more of them than of those.
func (m *meeting) waitsForPermit(t *thread, object uint64, waiting int) {
	g := m.sem.guessed
	g.note(&g.waiters, t)
	delete(t.permits, object)
	g.asleep = max(g.asleep, waiting)
	m.sem.most = uint64(max(1, len(m.order)-g.asleep))
}

func (g *guessed) note(set *map[*thread]bool, t *thread) {
	if *set == nil {
		*set = map[*thread]bool{}
	}
	(*set)[t] = true
}

// getsPermit notes that a thread has been let go: it has a permit then, or waits once more.
func (m *meeting) getsPermit(t, by *thread, at uint64) {
	if m == nil || m.sem == nil {
		return
	}
	m.sem.hasNone(t, at)
	if t.cond.since != 0 {
		m.sem.wall += at - t.cond.since
	}
	if by != nil {
		if t.permits == nil {
			t.permits = map[uint64]permit{}
		}
		t.permits[t.cond.object] = permit{t.cond.call, at, t.cpu.at(at), t.rested}
	}
}

func (g *guessed) hasNone(t *thread, at uint64) {
	if g.last == nil {
		g.last = map[*thread]uint64{}
	}
	g.last[t] = t.cpu.at(at)
}

// givesPermit notes that a thread gives a permit back. It took it when it had waited, or at some time
// since it had none.
func (m *meeting) givesPermit(t *thread, object, at uint64) {
	if m == nil || m.sem == nil {
		return
	}
	g := m.sem.guessed
	g.note(&g.givers, t)
	m.sem.most = uint64(max(1, len(m.order)-g.asleep))
	if p, ok := t.permits[object]; ok && p.at >= t.piece.from {
		g.known = append(g.known, t.cpu.at(at)-p.cpu)
	}
	delete(t.permits, object)
	within := t.cpu.at(at) - max(g.last[t], t.piece.cpuFrom)
	t.piece.addHeld(held{of: m.sem, call: uint64(m.place.own), n: 1, within: []uint64{within}})
	g.hasNone(t, at)
}

// guess is for how long threads had permits, each of them within such a time: as long as those whose
// time is known. What takes longer than half of these is left out, since the thread may have given back
// that permit unseen and taken another one. If not each thread is known to have had one, or somebody
// gives permits who has never waited for one, nothing is claimed.
func (g *guessed) guess(within []uint64) (ns uint64) {
	if g == nil || len(within) == 0 || len(g.known) < len(g.givers) {
		return 0
	}
	for t := range g.givers {
		if !g.waiters[t] {
			return 0
		}
	}
	shorter := slices.Sorted(slices.Values(g.known))
	shorter = shorter[:(len(shorter)+1)/2]
	mean := total(shorter) / uint64(len(shorter))
	for _, w := range within {
		ns += min(w, mean)
	}
	return ns
}

// noteGuessed says for how long threads have waited where what they lose is a guess.
func (r *run) noteGuessed(notes collect.Notes) {
	var wall uint64
	for _, p := range r.all() {
		for _, m := range p.conditions.meetings {
			if m.sem != nil {
				wall += m.sem.wall
			}
		}
	}
	if wall > 0 {
		notes.Set("permits", fmt.Sprintf("threads waited for %v in all, on the wall, for permits of semaphores of the C++ library: "+
			"how many permits there are, and for how long threads have them, is seen of some only, so that what is lost there "+
			"with a core for everybody is an estimate, and may be more", unit.Nanos(wall)), 1)
	}
}
