package watch

// The watchpoints, and which of them makes room for a new sample.

import (
	"lime/internal/perf"
	"lime/internal/waste"
)

// point is watched memory: a piece of an access that was sampled.
type point struct {
	addr      uint64
	bytes     int
	before    uint64  // what stood there before the access
	value     uint64  // what stands there since
	store     bool    // it was a store
	whole     int     // bytes of the whole access
	tolerance float64 // of floating-point numbers
	owner     int     // the thread that was sampled
	at        Place
	open      waste.Set // kinds that are not decided
	traps     map[int]perf.Trap
	armed     bool // the access has happened, and its thread watches, too
	ignored   int  // accesses that decided nothing
	calls     int  // system calls of the owner since
}

// points is how many places are watched at once: one register of each thread leads it to its next
// sample.
const points = perf.Slots - 1

// slots are the points by their numbers.
type slots struct {
	points [points]*point
	since  int // samples since a register was free last, with those that are watched
}

// place finds a register for a new sample, -1 if it is not to be watched: of all samples since a
// register was free, each is watched with the same probability (reservoir sampling).
func (s *slots) place(chance func(n int) int) int {
	for i, p := range s.points {
		if p == nil {
			s.since = points
			return i
		}
	}
	s.since++
	if chance(s.since) < points {
		return chance(points)
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
