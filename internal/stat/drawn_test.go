package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// tailOf goes through all sums.
func tailOf(lists [][]float64, least float64) float64 {
	if len(lists) == 0 {
		if least <= 1e-9 {
			return 1
		}
		return 0
	}
	p := 0.0
	for _, x := range lists[0] {
		p += tailOf(lists[1:], least-x) / float64(len(lists[0]))
	}
	return p
}

// The chance is that of all sums, where they can be gone through: small ones, too, and such of the one
// largest sum.
func TestDrawnTail(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		lists := make([][]float64, 3+rnd.IntN(6))
		most := 0.0
		for i := range lists {
			hi := math.Inf(-1)
			for range 2 + rnd.IntN(3) {
				x := rnd.NormFloat64() * math.Exp(2*rnd.NormFloat64())
				lists[i], hi = append(lists[i], x), max(hi, x)
			}
			most += hi
		}
		for _, least := range []float64{most, most * 0.8, most * 0.5} {
			want := tailOf(lists, least)
			if got := DrawnTail(lists, least); got < 1 && (got < 0.8*want || got > 1.25*want) {
				t.Errorf("%v: %v of %v at least: %.3g, want %.3g", lists, least, most, got, want)
			}
		}
	}
	if DrawnTail([][]float64{{1, 2}}, 3) != 0 || DrawnTail([][]float64{{0, 0}}, 0) != 1 || DrawnTail(nil, 0) != 1 {
		t.Error("sums that are too large, or all of them")
	}
}
