package ledger

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// What comes first must be what a stable sort of all puts first, ties included.
func TestFirst(t *testing.T) {
	type thing struct{ size, at int }
	compare := func(a, b thing) int { return cmp.Compare(b.size, a.size) }
	r := rand.New(rand.NewPCG(6, 6))
	for range 500 {
		xs := make([]thing, r.IntN(200))
		for i := range xs {
			xs[i] = thing{r.IntN(20), i}
		}
		n := r.IntN(60)
		want := slices.Clone(xs)
		slices.SortStableFunc(want, compare)
		if got := first(xs, n, compare); !slices.Equal(got, want[:min(n, len(want))]) {
			t.Fatalf("%d of %v: got %v", n, xs, got)
		}
	}
}
