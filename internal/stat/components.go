package stat

import (
	"math"
	"sync/atomic"
)

// components returns the connected components of the graph that joins rows whose similarity
// is at least the threshold (a little less, for rounding): each sorted, by smallest row.
// Rows may be shorter than 1 (means of unit vectors).
func components(x Matrix, threshold float64, workers int) [][]int32 {
	u := newUnion(x.Len())
	if x.Len() <= allPairsLimit {
		newScreen(x, threshold-1e-9).scan(workers, u)
	} else {
		hashedPairs(x, threshold-1e-9, workers, u)
	}
	return u.sets()
}

// allPairsLimit is the number of rows up to which every pair is looked at. Beyond it only rows that share a bucket
// of a hash are, and some pairs are missed.
const allPairsLimit = 20000

// hashedPairs joins the similar rows among those that the hash brings together.
func hashedPairs(x Matrix, limit float64, workers int, u *union) {
	h, s := newHash(x, 24, 12, workers), newScreen(x, limit)
	for i := range int32(x.Len()) {
		h.each(i, func(j int32) {
			if s.near(int(i), int(j)) {
				s.verify(i, j, u)
			}
		})
		h.add(i, i)
	}
}

// union is a union-find that many goroutines may use. The smallest member is the root,
// so the outcome does not depend on their order.
type union struct{ parent []atomic.Int32 }

func newUnion(m int) *union {
	u := &union{make([]atomic.Int32, m)}
	for i := range u.parent {
		u.parent[i].Store(int32(i))
	}
	return u
}

func (u *union) find(i int32) int32 {
	for {
		p := u.parent[i].Load()
		if p == i {
			return i
		}
		if g := u.parent[p].Load(); g != p {
			u.parent[i].CompareAndSwap(p, g)
		}
		i = p
	}
}

func (u *union) join(i, j int32) {
	for {
		i, j = u.find(i), u.find(j)
		if i == j {
			return
		}
		if i > j {
			i, j = j, i
		}
		if u.parent[j].CompareAndSwap(j, i) {
			return
		}
	}
}

func (u *union) sets() [][]int32 {
	at := map[int32]int{}
	var out [][]int32
	for i := range int32(len(u.parent)) {
		r := u.find(i)
		k, ok := at[r]
		if !ok {
			k = len(out)
			at[r], out = k, append(out, nil)
		}
		out[k] = append(out[k], i)
	}
	return out
}

// head is the number of leading components that the screen looks at first, and then as many again.
const head = 8

// screen finds pairs with a similarity of at least limit without computing most of them: by Cauchy-Schwarz
// the dot product of two rows is at most that of their heads plus the product of the lengths of their tails.
type screen struct {
	x     Matrix
	limit float64
	parts [2]screenPart
}

// screenPart holds of every row one stretch of components, and the length of what follows it.
type screenPart struct {
	heads [][head]float32
	tails []float32
}

// screenSlack covers the rounding of the single-precision screen.
const screenSlack = 1e-5

func newScreen(x Matrix, limit float64) *screen {
	s := &screen{x: x, limit: limit}
	for k := range s.parts {
		s.parts[k] = newPart(x, k*head)
	}
	return s
}

func newPart(x Matrix, from int) screenPart {
	p := screenPart{heads: make([][head]float32, x.Len()), tails: make([]float32, x.Len())}
	for i := range p.heads {
		p.set(i, x.Row(i), from, 1)
	}
	return p
}

// set enters a row, scaled.
func (p *screenPart) set(i int, row []float64, from int, scale float64) {
	lo, hi := min(from, len(row)), min(from+head, len(row))
	for k, v := range row[lo:hi] {
		p.heads[i][k] = float32(v * scale)
	}
	p.tails[i] = float32(math.Sqrt(Dot(row[hi:], row[hi:])) * scale)
}

func (s *screen) scan(workers int, u *union) {
	parallel(s.x.Len(), workers, func(i int) { s.row(i, u) })
}

// row joins row i with every earlier row that is similar to it.
func (s *screen) row(i int, u *union) {
	p := &s.parts[0]
	h, t := &p.heads[i], p.tails[i]
	limit := float32(s.limit - screenSlack)
	heads, tails := p.heads[:i], p.tails[:i]
	for j := range heads {
		if d := dot8(h, &heads[j]); d+t*tails[j] >= limit && s.second(i, j, d, limit) {
			s.verify(int32(i), int32(j), u)
		}
	}
}

// near reports whether the similarity of two rows may reach the limit.
func (s *screen) near(i, j int) bool {
	p, limit := &s.parts[0], float32(s.limit-screenSlack)
	d := dot8(&p.heads[i], &p.heads[j])
	return d+p.tails[i]*p.tails[j] >= limit && s.second(i, j, d, limit)
}

// second looks at the second stretch of components.
func (s *screen) second(i, j int, d, limit float32) bool {
	p := &s.parts[1]
	return d+dot8(&p.heads[i], &p.heads[j])+p.tails[i]*p.tails[j] >= limit
}

func dot8(a, b *[head]float32) float32 {
	return (a[0]*b[0] + a[1]*b[1]) + (a[2]*b[2] + a[3]*b[3]) + (a[4]*b[4] + a[5]*b[5]) + (a[6]*b[6] + a[7]*b[7])
}

func (s *screen) verify(i, j int32, u *union) {
	if u.find(i) != u.find(j) && Dot(s.x.Row(int(i)), s.x.Row(int(j))) >= s.limit {
		u.join(i, j)
	}
}
