package analysis

import (
	"math/rand/v2"
	"testing"

	"lime/internal/profile"
)

// Threads that share a slow core take longer again and again, by its doing; one that takes longer
// than those on its core does so by the program's. Where every thread has a core of its own, or all
// run everywhere, cores explain nothing.
func TestCoresExplainTimes(t *testing.T) {
	const threads, instances, mean = 8, 60, 1e7
	stays := func(cores int) func(i, thread int) []float64 {
		return func(_, thread int) []float64 {
			share := make([]float64, cores)
			share[thread%cores] = 1
			return share
		}
	}
	moves := func(i, thread int) []float64 { return stays(2)(i, thread+i) }
	everywhere := func(i, thread int) []float64 {
		return []float64{0.5 + float64((i+thread)%3)/100, 0.5 - float64((i+thread)%3)/100}
	}
	for _, c := range []struct {
		name  string
		on    func(i, thread int) []float64 // shares of the cores
		slow  float64                       // by what core 0 takes longer
		own   float64                       // by what thread 3 takes longer
		again bool
	}{
		{"even", stays(2), 0, 0, false},
		{"a slow core", stays(2), 0.15, 0, false},
		{"a slow core of four", stays(4), 0.3, 0, false},
		{"a thread", stays(2), 0, 0.3, true},
		{"a thread on the other core than the slow one", stays(2), 0.15, 0.3, true},
		{"each its own core", stays(threads), 0.15, 0, true},
		{"a thread that moves", moves, 0, 0.3, true},
		{"a slow core, all move", moves, 0.15, 0, false},
		{"a thread among those that are everywhere", everywhere, 0.15, 0.3, true},
	} {
		for seed := range uint64(10) {
			r := rand.New(rand.NewPCG(seed, 3))
			w := &rows{threads: map[profile.ThreadID]*threadRows{}, blocks: map[profile.NodeID]mass{}, trips: newTrips(), waits: map[int32]mass{}}
			tab := &profile.Tables{Kinds: []profile.EventKind{profile.NewKind(profile.Measured, profile.KindCoreTime)}}
			for core := range threads {
				tab.Events = append(tab.Events, profile.Event{Kind: 0, Node: profile.None, Addr: uint64(core)})
			}
			for i := range instances {
				in := &profile.Instance{}
				for thread := range threads {
					shares := c.on(i, thread)
					x := 1 + 0.05*r.Float64() + c.slow*shares[0]
					if thread == 3 {
						x += c.own
					}
					in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(thread), Arrive: uint64(mean * x)})
					for core, s := range shares {
						if s > 0 {
							in.Events = append(in.Events, profile.Count{Row: int32(core), Part: int32(thread), N: uint64(s * mean * x)})
						}
					}
				}
				w.add(tab, in)
			}
			if got := w.again(); got != c.again {
				t.Errorf("%s, seed %d: again %t, want %t", c.name, seed, got, c.again)
			}
		}
	}
}
