package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLockLine holds a lock's time line to one that has every unit of time.
func TestLockLine(t *testing.T) {
	const length = 400
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		var line lockLine
		var units [8 * length]bool
		for range 60 {
			at, n := uint64(random.IntN(length)), uint64(1+random.IntN(12))
			free := at + uint64(slices.Index(units[at:], false))
			if got := line.free(at); got != free {
				t.Fatalf("seed %d: free from %d on at %d, want %d: %v", seed, at, got, free, line)
			}
			end := at
			for left := n; left > 0; end++ {
				if !units[end] {
					units[end] = true
					left--
				}
			}
			if got := line.hold(at, n); got != end {
				t.Fatalf("seed %d: %d units from %d on end at %d, want %d: %v", seed, n, at, got, end, line)
			}
		}
	}
}
