package analysis

import (
	"math/rand/v2"
	"testing"

	"lime/internal/profile"
)

// Rows of a matrix are dealt out in chunks, and one is as long as thousands of others. The loop
// over the columns of a row goes round more often where time is lost; the one over a chunk's rows
// does not, though nearly all samples of the long row see it at the same place. Wherever in its
// chunk that is, the inner loop is named.
func TestALongRowOfAChunk(t *testing.T) {
	const rowLoop, columnLoop, threads, instances, draws = 1, 2, 4, 24, 200
	const chunk, short, long = 4, 60, 200_000
	for at := range chunk {
		rnd, named := rand.New(rand.NewPCG(uint64(at), 3)), 0
		for range draws {
			w := &rows{threads: map[profile.ThreadID]*threadRows{}, trips: newTrips()}
			for k := range instances {
				in := &profile.Instance{}
				rowN, rowLeft, n, left := make([]float64, threads), make([]float64, threads), make([]float64, threads), make([]float64, threads)
				for i := range threads {
					time := 5e5 * (1 + 0.2*rnd.Float64())
					place, columns := float64(rnd.IntN(chunk)), float64(short)
					if i == (k*7)%threads {
						time, place, columns = 2e6*(1+0.2*rnd.Float64()), float64(at), long
					}
					in.Parts = append(in.Parts, profile.Part{Thread: profile.ThreadID(i), Arrive: uint64(time)})
					for range int(time/1e6 + rnd.Float64()) {
						rowN[i], rowLeft[i] = rowN[i]+1, rowLeft[i]+chunk-1-place
						n[i], left[i] = n[i]+1, left[i]+columns*rnd.Float64()
					}
				}
				w.trips.instance(rowLoop, in, rowN, rowLeft)
				w.trips.instance(columnLoop, in, n, left)
			}
			walk := &walker{loop: func(b boundary) length { return w.trips.judge(b.node, 1, false, w) }}
			outer := &part{b: boundary{kind: boundLoop, node: rowLoop}}
			inner := &part{b: boundary{kind: boundLoop, node: columnLoop}, up: outer}
			walk.name(inner, []*part{outer, inner})
			if len(walk.found) == 1 && walk.found[0].cause == inner {
				named++
			}
		}
		if named < draws*95/100 {
			t.Errorf("a long row at place %d of its chunk: the loop over its columns is named in %d of %d draws", at, named, draws)
		}
	}
}
