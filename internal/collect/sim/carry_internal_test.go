package sim

import (
	"math/rand"
	"testing"

	"lime/internal/engine"
)

// TestCarriedCountsStayFew holds what is carried, and what was done since the last release, to sums
// that are kept beside them; and its length to twice that of the edges.
func TestCarriedCountsStayFew(t *testing.T) {
	const edges = 1000
	for seed := range int64(20) {
		rng := rand.New(rand.NewSource(seed))
		x := &thread{adder: &adder{}}
		all, since := map[engine.EdgeID]uint64{}, map[engine.EdgeID]uint64{}
		for range 5000 {
			var list []edgeCount
			for range rng.Intn(50) {
				list = append(list, edgeCount{engine.EdgeID(rng.Intn(edges)), uint64(rng.Intn(9))})
			}
			x.carries(list...)
			for _, e := range list {
				all[e.id] += e.n
				since[e.id] += e.n
			}
			if rng.Intn(200) == 0 {
				clear(since)
				x.doing = doing{from: len(x.carry)}
			}
			if len(x.carry) > 2*2*edges+50 { // those before the last release, and those since
				t.Fatalf("seed %d: %d counts of %d edges are carried", seed, len(x.carry), edges)
			}
		}
		sameSums(t, seed, x.carry, all)
		sameSums(t, seed, x.carry[x.doing.from:], since)
	}
}

func sameSums(t *testing.T, seed int64, list []edgeCount, want map[engine.EdgeID]uint64) {
	t.Helper()
	got := map[engine.EdgeID]uint64{}
	for _, e := range list {
		got[e.id] += e.n
	}
	for id := range want {
		if got[id] != want[id] {
			t.Errorf("seed %d: edge %d: %d, want %d", seed, id, got[id], want[id])
		}
	}
}
