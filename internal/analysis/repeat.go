// Shares that can be repeated. A row of the account is what a place put on the last thread: more
// than the whole imbalance, where other places take it back. Evening it out among the threads wins
// less then, if anything: who came last is another thread afterwards.

package analysis

import (
	"slices"

	"lime/internal/ledger"
)

// repeatable bounds what evening a posting out can win, as a share of the imbalance: no more than it
// put on the last thread, nor than there is, nor than the lateness that it leaves with any other.
func repeatable(acc *ledger.Account, cycles float64, put []float64) float64 {
	left := 0.0
	for i := range min(len(put), len(acc.Deviation)) {
		left = max(left, acc.Deviation[i]-put[i])
	}
	return min(ratio(cycles, acc.Total), 1, 1-ratio(left, acc.Total))
}

// settle takes rows together with which one that passes the whole imbalance is made up for, as long
// as evening them out together wins more; a share that still passes it is what can be won at most.
func settle(acc *ledger.Account, posts map[causeKey]*posting, order []causeKey) []causeKey {
	gone := map[causeKey]bool{}
	for _, key := range order {
		p := posts[key]
		for !gone[key] && p.share > 1 {
			best, most := causeKey{}, repeatable(acc, p.cycles, p.sums())
			for _, k := range order {
				q := posts[k]
				if k == key || gone[k] || q.cycles >= 0 {
					continue
				}
				if x := repeatable(acc, p.cycles+q.cycles, added(p.sums(), q.sums())); x > most {
					best, most = k, x
				}
			}
			if best == (causeKey{}) {
				p.share = max(0, most)
				break
			}
			p.take(best, posts[best])
			gone[best] = true
		}
	}
	return slices.DeleteFunc(order, func(k causeKey) bool { return gone[k] })
}

func added(a, b []float64) []float64 {
	for i := range min(len(a), len(b)) {
		a[i] += b[i]
	}
	return a
}
