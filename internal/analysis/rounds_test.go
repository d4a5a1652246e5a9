package analysis

import (
	"testing"

	"lime/internal/profile"
)

// A loop runs as often as its work does, wherever the compiler puts its test and what it puts between
// the test and the work: who does the work once does not do it "never".
func TestRoundsOfALoop(t *testing.T) {
	type way struct {
		from, to int
		kind     profile.EdgeKind
		count    func(n uint64) uint64
	}
	once := func(uint64) uint64 { return 1 }
	all := func(n uint64) uint64 { return n }
	again := func(n uint64) uint64 { return n - 1 }
	for _, c := range []struct {
		name string
		ways []way
	}{
		{"tested first", []way{{0, 1, profile.EdgeFall, once}, {1, 2, profile.EdgeTaken, all}, {2, 1, profile.EdgeJump, all}, {1, 4, profile.EdgeFall, once}}},
		{"tested last", []way{{0, 1, profile.EdgeFall, once}, {1, 2, profile.EdgeFall, all}, {2, 1, profile.EdgeTaken, again}, {2, 4, profile.EdgeFall, once}}},
		{"of one block", []way{{0, 1, profile.EdgeFall, once}, {1, 1, profile.EdgeTaken, again}, {1, 4, profile.EdgeFall, once}}},
		{"loads anew before the next round", []way{{0, 1, profile.EdgeFall, once}, {1, 2, profile.EdgeFall, all}, {2, 3, profile.EdgeTaken, again},
			{3, 1, profile.EdgeFall, again}, {2, 4, profile.EdgeFall, once}}},
	} {
		b := newBuilder(8, 6, 1, 2)
		counts := map[int][]uint64{}
		rounds := []uint64{1, 2, 5, 1, 9, 3, 1, 4}
		var times []uint64
		for _, w := range c.ways {
			e := b.edge(w.from, w.to, w.kind)
			for _, n := range rounds {
				counts[e] = append(counts[e], w.count(n))
			}
		}
		for _, n := range rounds {
			times = append(times, 100+1000*n)
		}
		b.instance(times, counts, nil)
		res, err := Run(b.p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		causes := res.Sections[0].Causes
		if len(causes) == 0 || causes[0].Event != EventLoop {
			t.Errorf("%s: causes %+v", c.name, causes)
			continue
		}
		for i, thread := range causes[0].Threads {
			if thread.Count != rounds[i] {
				t.Errorf("%s: thread %d has %d iterations, not %d: %s", c.name, i, thread.Count, rounds[i], causes[0].Sentence)
			}
		}
	}
}
