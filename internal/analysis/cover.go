// Unions of stretches of time.

package analysis

import (
	"cmp"
	"iter"
	"slices"
)

// stretch is one of time.
type stretch struct{ lo, hi uint64 }

// cover is what stretches cover together. They may come in any order; those that overlap are joined
// whenever room for more would be needed, so that it takes as much as is apart.
type cover []stretch

func (c *cover) add(x stretch) {
	n := len(*c)
	if n > 0 && (*c)[n-1].lo <= x.lo && x.lo <= (*c)[n-1].hi {
		(*c)[n-1].hi = max((*c)[n-1].hi, x.hi)
		return
	}
	if n == cap(*c) {
		c.join()
	}
	*c = append(*c, x)
}

func (c *cover) addAll(xs iter.Seq[stretch]) {
	for x := range xs {
		c.add(x)
	}
}

// join brings the stretches into order, and makes one of those that overlap or touch.
func (c *cover) join() {
	all := *c
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi)) })
	out := all[:0]
	for _, x := range all {
		if n := len(out); n > 0 && x.lo <= out[n-1].hi {
			out[n-1].hi = max(out[n-1].hi, x.hi)
		} else {
			out = append(out, x)
		}
	}
	*c = out
}

// length is that of the union.
func (c *cover) length() (sum float64) {
	c.join()
	for _, x := range *c {
		sum += float64(x.hi - x.lo)
	}
	return sum
}
