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

// A few samples around a part of the program, drawn like those in it, do not show that it is even there,
// but once in five hundred draws; many that fall to all threads alike do.
func TestFewSamplesAroundAreNotEven(t *testing.T) {
	const draws, inside = 5000, 600
	rnd := rand.New(rand.NewPCG(3, 4))
	few, many := 0, 0
	for range draws {
		threads := 2 + rnd.IntN(7)
		times := make([]float64, threads) // one has two to eight times as much to do
		for i := range times {
			times[i] = 1
		}
		times[0] = 2 + 6*rnd.Float64()
		all := float64(threads-1) + times[0]
		of := func(i int, n float64) mass {
			x := times[i] - all/float64(threads)
			return mass{n: n, cov: n * x, vari: n * x * x}
		}
		var part, around, even mass
		for i := range times {
			part.add(of(i, inside*times[i]/all), 1)
			even.add(of(i, inside), 1)
		}
		for range 3 + rnd.IntN(8) {
			i := max(0, int(rnd.Float64()*all-times[0]+1)) // by the threads' times
			around.add(of(i, 1), 1)
		}
		w := &walker{total: mass{n: 2 * inside}}
		if w.judge(around, part) < 0 {
			few++
		}
		if w.total.n = inside * float64(threads+1); w.judge(even, part) < 0 {
			many++
		}
	}
	if few > draws/500 || many < draws {
		t.Errorf("told to be even: %d of %d with few samples that are as uneven, %d with many that are even", few, draws, many)
	}
}
