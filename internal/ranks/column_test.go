package ranks

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lime/internal/profile"
)

func TestColumnHoldsWhatWasAdded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var c column
		var want []profile.Count
		for part := range int32(r.IntN(60)) {
			for range r.IntN(3) {
				n := []uint64{0, 7, 7, 7, r.Uint64N(9), r.Uint64() >> 2}[r.IntN(6)]
				c.add(part, n)
				switch k := len(want); {
				case n == 0:
				case k > 0 && want[k-1].Part == part:
					want[k-1].N += n
				default:
					want = append(want, profile.Count{Row: 5, Part: part, N: n})
				}
			}
		}
		if got := c.cells(nil, 5); !slices.Equal(got, want) {
			t.Fatalf("\n got %v\nwant %v", got, want)
		}
	}
}

// Ranks that did the same take no room.
func TestColumnGrowsWithWhatDiffers(t *testing.T) {
	var same, other column
	for part := range int32(100_000) {
		same.add(part, 12345)
		other.add(part, uint64(part%2))
	}
	same.close()
	if len(same.packed) > 16 {
		t.Errorf("a run takes %d bytes", len(same.packed))
	}
	if other.close(); len(other.packed) > 3*50_000 {
		t.Errorf("%d bytes for 50,000 runs", len(other.packed))
	}
}
