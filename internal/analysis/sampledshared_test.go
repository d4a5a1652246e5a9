package analysis

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lime/internal/profile"
)

// slowed is what the machine makes of a piece of work: it takes a little longer always, and rarely
// much.
func slowed(rnd *rand.Rand) float64 {
	x := 1 + 0.05*rnd.ExpFloat64()
	if rnd.IntN(20) == 0 {
		x *= 1 + rnd.ExpFloat64()
	}
	return x
}

// dealt are an instance's times if its pieces go to whoever is free first, the threads beginning
// one after the other. A thread's first piece finds nothing in the caches: that is up to a fifth of
// the shortest piece.
func dealt(rnd *rand.Rand, threads int, pieces []float64) []float64 {
	free, t := make([]float64, threads), make([]float64, threads)
	for i := range free {
		free[i] = rnd.Float64() * slices.Min(pieces) / 2
	}
	for _, x := range pieces {
		i := slices.Index(free, slices.Min(free))
		x *= 1 + 0.1*rnd.ExpFloat64()
		if t[i] == 0 {
			x += rnd.Float64() * slices.Min(pieces) / 5
		}
		free[i], t[i] = free[i]+x, t[i]+x
	}
	return t
}

// rowsOf are the rows of so many instances.
func rowsOf(instances int, times func() []float64) *rows {
	w := &rows{threads: map[profile.ThreadID]*threadRows{}, blocks: map[profile.NodeID]mass{}, trips: newTrips(), waits: map[int32]mass{}}
	for range instances {
		in := &profile.Instance{}
		for i, x := range times() {
			in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(i), Arrive: uint64(x)})
		}
		w.add(&profile.Tables{}, in)
	}
	return w
}

// Of pieces that go to whoever comes first another thread has most each time. That the instances
// lose time again and again is the program's doing all the same, and is proved nearly always: also
// if nobody knows in most of them how they would have been shared out with a core for every thread.
func TestTakenInTurnIsProved(t *testing.T) {
	const ms, draws = 1e6, 100
	for _, c := range []struct {
		name                      string
		threads, instances, known int // one of so many instances is known
		pieces                    []float64
	}{
		{"five pieces on four threads", 4, 6, 1, slices.Repeat([]float64{4 * ms}, 5)},
		{"nine pieces on eight threads", 8, 12, 1, slices.Repeat([]float64{2 * ms}, 9)},
		{"one long piece", 4, 24, 3, append([]float64{12 * ms}, slices.Repeat([]float64{0.2 * ms}, 60)...)},
		{"the same in microseconds", 4, 200, 3, append([]float64{120e3}, slices.Repeat([]float64{2e3}, 60)...)},
	} {
		rnd, found := rand.New(rand.NewPCG(6, 1)), 0
		for range draws {
			i := 0
			w := rowsOf(c.instances, func() []float64 {
				t := dealt(rnd, c.threads, c.pieces)
				rnd.Shuffle(len(t), func(i, k int) { t[i], t[k] = t[k], t[i] })
				if i++; i%c.known != 0 {
					t = slices.Repeat([]float64{sumOf(t) / float64(len(t))}, len(t))
				}
				return t
			})
			if w.often() || w.shared() {
				found++
			}
		}
		if found < draws*9/10 {
			t.Errorf("%s: proved in %d of %d draws", c.name, found, draws)
		}
	}
}

// Parts of equal work that the machine slows down, and pieces of even work that go to whoever comes
// first, prove nothing, but once in hundreds of draws.
func TestSlowedIsNotProved(t *testing.T) {
	const ms, draws = 1e6, 400
	rnd := rand.New(rand.NewPCG(6, 2))
	for _, c := range []struct {
		name  string
		times func(threads int) []float64
	}{
		{"equal parts", func(threads int) []float64 {
			t := make([]float64, threads)
			for i := range t {
				t[i] = 10 * ms * slowed(rnd)
			}
			return t
		}},
		{"equal parts that take microseconds", func(threads int) []float64 {
			t := make([]float64, threads)
			for i := range t {
				t[i] = 20e3 + 60e3*rnd.Float64()
			}
			return t
		}},
		{"many pieces", func(threads int) []float64 { return dealt(rnd, threads, slices.Repeat([]float64{ms / 2}, 20*threads)) }},
	} {
		wrong := 0
		for range draws {
			threads, instances := 2+rnd.IntN(7), 2+rnd.IntN(60)
			if w := rowsOf(instances, func() []float64 { return c.times(threads) }); w.often() || w.shared() {
				wrong++
			}
		}
		if wrong > 1 {
			t.Errorf("%s: proved in %d of %d draws", c.name, wrong, draws)
		}
	}
}

// What threads do that take a cache from one another varies by far more, but each for itself: they
// share no amount of work.
func TestSlowMemoryIsNotShared(t *testing.T) {
	const ms, draws = 1e6, 400
	rnd := rand.New(rand.NewPCG(6, 3))
	wrong := 0
	for range draws {
		threads, instances := 2+rnd.IntN(7), 2+rnd.IntN(60)
		if rowsOf(instances, func() []float64 {
			t := make([]float64, threads)
			for i := range t {
				t[i] = ms * (1 + 3*rnd.Float64())
			}
			return t
		}).shared() {
			wrong++
		}
	}
	if wrong > 1 {
		t.Errorf("shared in %d of %d draws", wrong, draws)
	}
}
