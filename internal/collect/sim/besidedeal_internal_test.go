package sim

import (
	"math/rand/v2"
	"testing"

	"lime/internal/section"
	"lime/internal/unit"
)

// TestDealtFairly deals pieces out anew that threads had taken in any order: nothing is lost, and
// nobody is later than another by more than the largest piece, if all came for work at once.
func TestDealtFairly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 2 + r.IntN(9)
		bouts := make([]bout, n)
		sum, largest := uint64(0), uint64(0)
		for turn := range uint64(r.IntN(200)) {
			p := dealtPiece{turn, 1 + r.Uint64N(1000)}
			x := &bouts[r.IntN(n)]
			x.pieces, x.time = append(x.pieces, p), x.time+p.length
			sum, largest = sum+p.length, max(largest, p.length)
		}
		for i := range bouts {
			bouts[i].tail = 1 // all were told that nothing is left
			bouts[i].time++
		}
		ends := dealtFairly(bouts)
		all, least, most := uint64(0), ^uint64(0), uint64(0)
		for _, e := range ends {
			all, least, most = all+e, min(least, e), max(most, e)
		}
		if all != sum+uint64(n) || most-least > largest {
			t.Fatalf("%d pieces of %d, the largest %d: ends from %d to %d, %d in all, want %d", len(bouts), n, largest, least, most, all, sum)
		}
	}
}

// TestChance has what is due to who took which piece, and what is not: a thread's own work before
// and after, one large piece.
func TestChance(t *testing.T) {
	// the deals at which a thread came, and when it arrived
	part := func(id int, arrive uint64, deals ...deal) section.Part {
		return section.Part{Thread: section.ThreadID(id), Arrive: unit.Cycles(arrive), Spans: []any{&segment{deals: deals}}}
	}
	for _, c := range []struct {
		name  string
		parts []section.Part
		want  uint64
	}{
		{"nothing is dealt", []section.Part{part(0, 100), part(1, 500)}, 0},
		{"one took three, the other one", []section.Part{
			part(0, 300, deal{1, 0}, deal{2, 100}, deal{3, 200}, deal{5, 300}), part(1, 100, deal{4, 0}, deal{6, 100})}, 100},
		{"one large piece", []section.Part{
			part(0, 300, deal{1, 0}, deal{3, 300}), part(1, 100, deal{2, 0}, deal{4, 100})}, 0},
		{"own work behind the loop", []section.Part{
			part(0, 400, deal{1, 0}, deal{3, 100}), part(1, 100, deal{2, 0}, deal{4, 100})}, 0},
		{"own work in front of it", []section.Part{
			part(0, 400, deal{1, 300}, deal{3, 400}), part(1, 100, deal{2, 0}, deal{4, 100})}, 100},
	} {
		if got := chance(c.parts); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
