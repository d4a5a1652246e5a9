package view

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// What several readers have read of a lane, joined, is what they read, in their order; and while it
// is read, it has room for twice as many cells at most, and for no more than a block beyond.
func TestReadersAreJoined(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		const lanes = 3
		var want [lanes][]cell
		var reach, until [lanes]uint64
		shares := make([]*share, 1+r.IntN(4))
		for k := range shares {
			shares[k] = &share{lanes: make([]growing, lanes), from: math.MaxUint64}
			for range r.IntN(5 * mostBlock) {
				i := r.IntN(lanes)
				c := cell{start: r.Uint64N(1e6), work: float32(r.IntN(1000)), wait: float32(r.IntN(100)), seq: r.Int32()}
				want[i] = append(want[i], c)
				reach[i], until[i] = max(reach[i], c.end()-c.start+1), max(until[i], c.end())
				shares[k].lanes[i].append(c)
			}
			for i := range lanes {
				g, room := &shares[k].lanes[i], 0
				for _, b := range g.blocks {
					room += cap(b)
				}
				if room > max(2*g.n, leastBlock) || room >= g.n+mostBlock {
					t.Fatalf("seed %d: room for %d cells, %d are there", seed, room, g.n)
				}
			}
		}
		x := &index{lanes: make([]lane, lanes), from: math.MaxUint64}
		x.unite(shares)
		for i := range lanes {
			l := &x.lanes[i]
			if !slices.Equal(l.cells, want[i]) || l.reach != reach[i] || l.until != until[i] {
				t.Fatalf("seed %d, lane %d: %d cells, want %d; reach %d, want %d; until %d, want %d",
					seed, i, len(l.cells), len(want[i]), l.reach, reach[i], l.until, until[i])
			}
			for k, s := range shares {
				if s.lanes[i].blocks != nil {
					t.Fatalf("seed %d: share %d still holds its cells", seed, k)
				}
			}
		}
	}
}
