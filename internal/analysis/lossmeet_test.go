package analysis

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Threads that meet every few hundred ns, now one later and now another, and now and then one by an
// interrupt, lose what meeting costs, also if one of them takes longer each time by no more than
// who comes first does; if one has more to do than that, it is that. Of longer work between two
// meetings neither is said.
func TestMeetingTooOften(t *testing.T) {
	const us = 1e-3 // of noisyProfile's mean, 1 ms
	for seed := range uint64(3) {
		for _, c := range []struct {
			work, own float64
			calm      bool
			want      string
		}{{0.3 * us, 0, false, TermOverhead}, {0.3 * us, 0.1 * us, true, TermOverhead}, {0.3 * us, 0.2 * us, true, TermOverhead},
			{0.3 * us, 0.2 * us, false, TermOverhead}, {0.3 * us, 0.4 * us, true, TermImbalance},
			{0.3 * us, 0.9 * us, false, TermImbalance}, {30 * us, 0, false, TermUnproved}} {
			of := noise{"of meeting", func(r *rand.Rand) float64 {
				x := c.work * (1 + r.Float64()) // of which noisyProfile adds the mean
				if !c.calm && r.IntN(2000) == 0 {
					x += 300 * us * r.ExpFloat64()
				}
				return x - 1
			}}
			name := fmt.Sprintf("seed %d, %v of work, one has %v more", seed, c.work, c.own)
			p, _ := noisyProfile(t, rand.New(rand.NewPCG(seed, 9)), 4, 1500, c.own, of)
			res, err := Run(p, Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkIdentity(t, res.Loss)
			for _, term := range []string{TermOverhead, TermImbalance, TermUnproved} {
				if told := res.Loss.Term(term); (told.Time > 0) != (term == c.want) {
					t.Errorf("%s: %v of %s, want %s", name, told.Time, term, c.want)
				}
			}
			if c.want == TermOverhead && !res.Loss.Term(TermOverhead).Places[0].Meets {
				t.Errorf("%s: nothing says that it is a barrier's", name)
			}
		}
	}
}
