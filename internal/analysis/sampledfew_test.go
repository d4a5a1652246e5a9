package analysis

import (
	"math"
	"math/rand/v2"
	"testing"

	"lime/internal/profile"
)

// drawnRows are instances of very different lengths. In those that own holds for, thread 0 has four times
// as much to do; the rest is noise, in proportion to the instance: a little always, rarely much, and
// in spells, for some instances on end, one thread's.
func drawnRows(rnd *rand.Rand, threads, instances int, own func(i int) bool) *rows {
	w := &rows{threads: map[profile.ThreadID]*threadRows{}, blocks: map[profile.NodeID]mass{}, trips: newTrips(), waits: map[int32]mass{}}
	spell, whose := 0, 0
	for i := range instances {
		in := &profile.Instance{}
		long := 5e6 * math.Exp(1.5*rnd.NormFloat64())
		if spell--; spell <= 0 {
			spell, whose = 1+rnd.IntN(3), rnd.IntN(threads)
		}
		for thread := range threads {
			x := 1 + 0.05*rnd.ExpFloat64()
			if rnd.IntN(20) == 0 {
				x *= 1 + rnd.ExpFloat64()
			}
			if thread == whose {
				x *= 1.1
			}
			if thread == 0 && own(i) {
				x *= 4
			}
			in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(thread), Arrive: uint64(long * x)})
		}
		w.add(&profile.Tables{}, in)
	}
	return w
}

// Noise alone proves nothing, and what one thread has more to do in a quarter of a few dozen instances
// is proved, though all lengths differ and single instances lose more than all of those.
func TestOneThreadInFewInstances(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 13))
	for draw := range 1000 {
		threads, instances := 2+rnd.IntN(7), 2+rnd.IntN(40)
		if w := drawnRows(rnd, threads, instances, func(int) bool { return false }); w.again() {
			t.Errorf("draw %d: %d threads, %d instances: noise is told to be one thread's work", draw, threads, instances)
		}
	}
	found := 0
	const draws = 200
	for range draws {
		if drawnRows(rnd, 4, 48, func(i int) bool { return i%4 == 0 }).again() {
			found++
		}
	}
	if found < draws/2 {
		t.Errorf("one thread's work was found in %d of %d", found, draws)
	}
}
