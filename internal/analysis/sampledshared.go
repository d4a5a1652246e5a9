// Threads that take longer in turn: pieces of work that go to whoever comes first, fewer or more
// uneven than there are threads to share them. No thread takes longer than the others in the end,
// but each instance loses time, and that is the program's doing as well.

package analysis

import (
	"math"

	"lime/internal/stat"
)

// Limits of these proofs.
const (
	// leastOften, of the longest part: four parts of equal work of a millisecond or more differ by
	// as much in 1 of 100 passages, where each has what it needs in a cache.
	leastOften = 0.4
	byMachine  = 0.05 // of the parts are longer by as much: many times as many
	longPart   = 1e6  // in ns: what is shorter an interrupt alone makes longer by as much

	leastShared = 0.25 // of the mean, standard deviation of the parts: one of twelve threads does twice as much
	// mostVaried is the variance of what an instance's threads do together, by what it is if they
	// have nothing to do with each other: caches that threads take from one another leave more than
	// a third.
	mostVaried = 0.25
)

// sharings sums, over the instances, what tells whether their threads share one amount of work.
type sharings struct {
	instances    float64
	squares      float64 // of the threads' mean times in an instance, by the number of the threads
	long, uneven int     // instances of long parts, and those of them that differ by much
}

func (s *sharings) add(t []float64, u *unevenness) {
	mean := ratio(u.weight, float64(len(t)))
	s.instances++
	s.squares += mean * u.weight
	if longest := u.late + mean; longest >= longPart {
		s.long++
		if u.spread >= leastOften {
			s.uneven++
		}
	}
}

// often reports whether the threads differ by much in more instances than the machine makes them.
func (w *rows) often() bool {
	s := &w.shares
	some := 1 - math.Pow(1-byMachine, ratio(float64(w.parts), s.instances))
	return stat.BinomialTail(s.uneven, s.long, some) < sureAgain
}

// shared reports whether what one thread does more the others do less: the work of an instance is
// the same each time, now one and now another does most of it. What the machine does to one thread
// it takes from no other one, and all that they do together varies as each of them does.
func (w *rows) shared() bool {
	k, parts := w.shares.instances, float64(w.parts)
	if k < 2 || parts <= k || w.s2 == 0 {
		return false
	}
	within, mean := w.s2/(parts-k), w.time/parts
	if math.Sqrt(within) < max(leastShared*mean, noiseFloor) {
		return false
	}
	varied := max(w.shares.squares-mean*w.time, 1e-9*w.s2) / (k - 1) / within
	return varied <= mostVaried && stat.FTail(1/varied, parts-k, k-1) < sureAgain
}
