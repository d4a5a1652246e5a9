package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lime/internal/ledger"
)

// random accounts of one instance: each row puts some time on every thread, which sums to nil; most
// rows make up for one another.
func randomAccount(r *rand.Rand) (*ledger.Account, map[causeKey]*posting, []causeKey) {
	n, rows := 2+r.IntN(15), 1+r.IntN(8)
	acc := &ledger.Account{Deviation: make([]float64, n), Instances: make([]ledger.InstanceTotal, 1)}
	put := make([][]float64, rows)
	for i := range put {
		mean := 0.0
		for range n {
			x := r.NormFloat64() * math.Exp(2*r.NormFloat64())
			put[i] = append(put[i], x)
			mean += x / float64(n)
		}
		for t := range put[i] {
			put[i][t] -= mean
			if i > 0 && r.IntN(2) == 0 {
				put[i][t] -= put[i-1][t] // it sums to nil as well
			}
		}
		sum := 0.0
		for _, x := range put[i] {
			sum += x / float64(n)
		}
		for t := range put[i] {
			put[i][t] -= sum
			acc.Deviation[t] += put[i][t]
		}
	}
	acc.Total = slices.Max(acc.Deviation)
	last := slices.Index(acc.Deviation, acc.Total)
	posts, order := map[causeKey]*posting{}, []causeKey(nil)
	for i := range put {
		c := put[i][last]
		row := &ledger.Row{Kind: ledger.Branch, Cycles: c, Share: c / acc.Total, Threads: put[i], Place: ledger.Place{Line: int32(i + 1)}}
		key := causeKey{lineKey: lineKey{line: int32(i + 1)}}
		posts[key] = &posting{rows: []*ledger.Row{row}, cycles: c, share: c / acc.Total}
		order = append(order, key)
	}
	return acc, posts, order
}

// No share passes the whole, and one that did before is what evening its places out wins.
func TestNoShareIsMoreThanEveningWins(t *testing.T) {
	r, passed := rand.New(rand.NewPCG(1, 2)), 0
	for range 20_000 {
		acc, posts, order := randomAccount(r)
		before := map[causeKey]float64{}
		for k, p := range posts {
			before[k] = p.share
		}
		for _, key := range settle(acc, posts, order) {
			p := posts[key]
			if p.share > 1+1e-9 {
				t.Fatalf("a share of %g", p.share)
			}
			if before[key] <= 1 {
				continue
			}
			passed++
			left := 0.0
			for i, x := range p.sums() {
				left = max(left, acc.Deviation[i]-x)
			}
			won := (acc.Total - left) / acc.Total
			if p.share > 0 && len(p.rows) == 1 && math.Abs(won-p.share) > 1e-9 || won > p.cycles/acc.Total+1e-9 {
				t.Fatalf("a share of %g, of %g before; evening it out wins %g", p.share, before[key], won)
			}
		}
	}
	if passed < 1000 {
		t.Errorf("only %d shares passed the whole", passed)
	}
}

// Two decisions, each of which makes other threads late as much: evening one out alone wins
// nothing, both together all.
func TestDecisionsThatMakeUpForOneAnother(t *testing.T) {
	acc := &ledger.Account{Deviation: []float64{50, 50, -50, -50}, Total: 50, Instances: make([]ledger.InstanceTotal, 1)}
	row := func(line int32, put ...float64) *posting {
		return &posting{rows: []*ledger.Row{{Kind: ledger.Branch, Place: ledger.Place{Line: line}, Cycles: put[0], Threads: put}},
			cycles: put[0], share: put[0] / acc.Total}
	}
	a, b := causeKey{lineKey: lineKey{line: 1}}, causeKey{lineKey: lineKey{line: 2}}
	posts := map[causeKey]*posting{a: row(1, 75, -25, -25, -25), b: row(2, -25, 75, -25, -25)}
	order := settle(acc, posts, []causeKey{a, b})
	if len(order) != 1 || posts[a].share != 1 || len(posts[a].also) != 1 || posts[a].also[0].Line != 2 {
		t.Errorf("left are %v, the first with a share of %g, together with %v", order, posts[a].share, posts[a].also)
	}
}
