package sim

import (
	"math/rand/v2"
	"testing"
)

// Threads walk through a loop at random, time and again. When the rounds are taken out, what is left goes
// round nowhere, and comes into each block as often as it leaves it, but where the walks begin and end.
func TestRoundsAreTakenOut(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		blocks := 2 + r.IntN(8)
		next := make([][]int, blocks)
		for i := range next {
			next[i] = []int{r.IntN(blocks + 1), r.IntN(blocks + 1)} // the last one is outside
		}
		gone, balance := map[[2]uint64]uint64{}, make([]int, blocks)
		for range 1 + r.IntN(20) {
			at := r.IntN(blocks)
			balance[at]++
			for range r.IntN(200) {
				to := next[at][r.IntN(2)]
				if to == blocks {
					break
				}
				gone[[2]uint64{uint64(at), uint64(to)}]++
				at = to
			}
			balance[at]--
		}
		var list []hop
		for way, n := range gone {
			half := n / 2 // a segment may hold a count in parts
			list = append(list, hop{from: way[0], to: way[1], n: half}, hop{from: way[0], to: way[1], n: n - half})
		}
		circulate(list)
		left := make([][]int, blocks)
		for _, h := range list {
			if h.around > h.n {
				t.Fatalf("%d of %d hops are rounds", h.around, h.n)
			}
			if h.around < h.n {
				left[h.from] = append(left[h.from], int(h.to))
			}
			balance[h.from] -= int(h.n - h.around)
			balance[h.to] += int(h.n - h.around)
		}
		for at, n := range balance {
			if n != 0 {
				t.Fatalf("%d more come to a block than leave it", n)
			}
			if leadsTo(left, at, at, map[int]bool{}) {
				t.Fatalf("what is left goes round: %v", left)
			}
		}
	}
}

// leadsTo reports whether a way of at least one hop leads from one block to another.
func leadsTo(next [][]int, from, to int, seen map[int]bool) bool {
	for _, n := range next[from] {
		if n == to {
			return true
		}
		if !seen[n] {
			seen[n] = true
			if leadsTo(next, n, to, seen) {
				return true
			}
		}
	}
	return false
}
