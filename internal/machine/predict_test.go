package machine

import (
	"math/rand/v2"
	"testing"
)

// wrong returns the share of mispredictions over the second half of a sequence.
func wrong(p predictor, n int, outcome func(i int) (pc uint64, taken bool)) float64 {
	bad := 0
	for i := range n {
		pc, taken := outcome(i)
		if right := p.update(pc, taken); !right && i >= n/2 {
			bad++
		}
	}
	return float64(bad) / float64(n-n/2)
}

func TestPredictors(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	coins := make([]bool, 20000)
	for i := range coins {
		coins[i] = rng.IntN(2) == 0
	}
	sequences := []struct {
		name    string
		outcome func(i int) (uint64, bool)
		lo, hi  map[string]float64 // bounds on the share of mispredictions
	}{
		{"always", func(int) (uint64, bool) { return 0x400, true }, nil,
			map[string]float64{"tage": 0, "gshare": 0, "bimodal": 0, "perfect": 0}},
		{"alternating", func(i int) (uint64, bool) { return 0x400, i%2 == 0 }, map[string]float64{"bimodal": 0.4},
			map[string]float64{"tage": 0.01, "gshare": 0.01, "perfect": 0}},
		{"every seventh", func(i int) (uint64, bool) { return 0x400, i%7 == 0 }, map[string]float64{"bimodal": 0.1},
			map[string]float64{"tage": 0.01, "gshare": 0.01, "bimodal": 0.15}},
		{"every fortieth", func(i int) (uint64, bool) { return 0x400, i%40 == 0 }, nil,
			map[string]float64{"tage": 0.01, "gshare": 0.03}},
		{"every 500th", func(i int) (uint64, bool) { return 0x400, i%500 == 0 }, map[string]float64{"gshare": 0.002},
			map[string]float64{"tage": 0}},
		{"coin", func(i int) (uint64, bool) { return 0x400, coins[i] },
			map[string]float64{"tage": 0.4, "gshare": 0.4, "bimodal": 0.4}, map[string]float64{"perfect": 0}},
		{"two with each other", func(i int) (uint64, bool) { return 0x400 + uint64(i%2)*64, coins[i/2] },
			map[string]float64{"tage": 0.2, "gshare": 0.2}, map[string]float64{"tage": 0.3, "gshare": 0.35}},
	}
	for _, s := range sequences {
		for _, row := range predictorTable() {
			got := wrong(row.make(12), len(coins), s.outcome)
			if lo, ok := s.lo[row.name]; ok && got < lo {
				t.Errorf("%s on %s: %.3f wrong, want at least %.3f", row.name, s.name, got, lo)
			}
			if hi, ok := s.hi[row.name]; ok && got > hi {
				t.Errorf("%s on %s: %.3f wrong, want at most %.3f", row.name, s.name, got, hi)
			}
		}
	}
}
