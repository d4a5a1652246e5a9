package watch

// The watchpoints, and which of them makes room for a new sample.

import (
	"lime/internal/perf"
	"lime/internal/waste"
)

// watched is memory that threads watch by a debug register each.
type watched struct {
	addr  uint64
	bytes int
	data  uint64 // what a trap brings along
	traps map[int]perf.Trap
}

// newWatched is a part of an access.
func newWatched(a access, data uint64, chance func(n int) int) watched {
	addr, n := piece(a, chance)
	return watched{addr: addr, bytes: n, data: data, traps: map[int]perf.Trap{}}
}

// around is the memory that reaches so many bytes further on both sides.
func (w *watched) around(more int) (addr uint64, bytes int) {
	return w.addr - uint64(more), w.bytes + 2*more
}

// add has a thread watch the memory.
func (w *watched) add(tid int, reads bool) bool {
	trap, err := perf.OpenWatch(tid, perf.Watchpoint{Addr: w.addr, Bytes: w.bytes, Reads: reads}, w.data)
	if err != nil {
		return false
	}
	w.traps[tid] = trap
	return true
}

// remove frees the debug register of a thread.
func (w *watched) remove(tid int) {
	if trap, ok := w.traps[tid]; ok {
		trap.Close()
		delete(w.traps, tid)
	}
}

func (w *watched) clear() {
	for tid := range w.traps {
		w.remove(tid)
	}
}

// point is watched memory: a piece of an access that was sampled.
type point struct {
	watched
	before    uint64  // what stood there before the access
	value     uint64  // what stands there since
	store     bool    // it was a store
	access    access  // that was sampled
	ticks     float64 // for which it stands
	tolerance float64 // of floating-point numbers
	owner     int     // the thread that was sampled
	at        Place
	open      waste.Set // kinds that are not decided
	armed     bool      // the access has happened, and its thread watches, too
	ignored   int       // accesses that decided nothing
	calls     int       // system calls of the owner since
}

// points is how many places are watched at once: one register of each thread leads it to its next
// sample.
const points = perf.Slots - 1

// slots are the points by their numbers.
type slots struct {
	points [points]*point
	lent   int // how many of them, from the last on, are somebody else's
	since  int // samples since a register was free last, with those that are watched
}

// place finds a register for a new sample, -1 if it is not to be watched: of all samples since a
// register was free, each is watched with the same probability (reservoir sampling).
func (s *slots) place(chance func(n int) int) int {
	room := points - s.lent
	for i, p := range s.points[:room] {
		if p == nil {
			s.since = room
			return i
		}
	}
	s.since++
	if chance(s.since) < room {
		return chance(room)
	}
	return -1
}

// of reports whether something is watched for a thread.
func (s *slots) of(tid int) bool {
	for _, p := range s.points {
		if p != nil && p.owner == tid {
			return true
		}
	}
	return false
}
