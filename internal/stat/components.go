package stat

import (
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"
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

// allPairsLimit is the number of rows up to which every pair is looked at. Beyond it only rows that
// share a bucket of a hash are, and some pairs are missed.
const allPairsLimit = 20000

// hashedPairs joins the similar rows among those that the hash brings together.
func hashedPairs(x Matrix, limit float64, workers int, u *union) {
	h, rows := newHash(x, 24, 12, workers), make([]centre, x.Len())
	for i := range int32(x.Len()) {
		row := &rows[i]
		row.set(x.Row(int(i)), 1)
		h.each(i, func(j int32) {
			if row.near(&rows[j], float32(limit-screenSlack)) {
				verify(x, limit, i, j, u)
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
	at := make([]int32, len(u.parent)) // root -> set + 1
	var out [][]int32
	for i := range int32(len(u.parent)) {
		k := &at[u.find(i)]
		if *k == 0 {
			out = append(out, nil)
			*k = int32(len(out))
		}
		out[*k-1] = append(out[*k-1], i)
	}
	return out
}

// head is the number of components in a stretch of those that are looked at first.
const head = 8

// screen finds pairs with a similarity of at least limit without computing most of them: by
// Cauchy-Schwarz the dot product of two rows is at most that of their heads plus the product of the
// lengths of their tails.
type screen struct {
	x     Matrix
	limit float64
	heads [2*head + 1][]float32 // leading components of all rows, one after the other, and the lengths of what follows them
}

// screenSlack covers the rounding of the single-precision screen.
const screenSlack = 1e-5

func newScreen(x Matrix, limit float64) *screen {
	s := &screen{x: x, limit: limit}
	for k := range s.heads {
		s.heads[k] = make([]float32, x.Len())
	}
	for i := range x.Len() {
		row := x.Row(i)
		hi := min(2*head, len(row))
		for k, v := range row[:hi] {
			s.heads[k][i] = float32(v)
		}
		s.heads[2*head][i] = float32(math.Sqrt(Dot(row[hi:], row[hi:])))
	}
	return s
}

// screenBlock is the number of rows that a row is compared with at a time.
const screenBlock = 512

// scan joins every row with every earlier row that is similar to it.
func (s *screen) scan(workers int, u *union) {
	spans(s.x.Len(), workers, func(lo, hi int) {
		bound := make([]float32, screenBlock)
		for first := 0; first < hi; first += screenBlock {
			for i := max(lo, first+1); i < hi; i++ {
				s.row(i, first, bound[:min(screenBlock, i-first)], u)
			}
		}
	})
}

// row joins row i with the similar ones among as many rows, from first on, as there is place for
// bounds of their similarities.
func (s *screen) row(i, first int, bound []float32, u *union) {
	clear(bound)
	sum := blas32.Vector{N: len(bound), Inc: 1, Data: bound}
	for _, h := range s.heads {
		blas32.Axpy(h[i], blas32.Vector{N: len(bound), Inc: 1, Data: h[first : first+len(bound)]}, sum)
	}
	limit := float32(s.limit - screenSlack)
	for k, most := range bound {
		if most >= limit {
			verify(s.x, s.limit, int32(i), int32(first+k), u)
		}
	}
}

// centre is what most pairs need no more of than that: two stretches of the components of a unit
// vector, and the length of what follows each of them.
type centre struct {
	seen         int32 // row that looked at it last, + 1: a group may stand in several buckets
	tail, second float32
	heads        [2][head]float32
}

// set enters a vector, scaled.
func (c *centre) set(row []float64, scale float64) {
	lo, hi := min(head, len(row)), min(2*head, len(row))
	for k, v := range row[:lo] {
		c.heads[0][k] = float32(v * scale)
	}
	for k, v := range row[lo:hi] {
		c.heads[1][k] = float32(v * scale)
	}
	after := Dot(row[hi:], row[hi:])
	c.second = float32(math.Sqrt(after) * scale)
	c.tail = float32(math.Sqrt(Dot(row[lo:hi], row[lo:hi])+after) * scale)
}

// near reports whether the similarity of two vectors may reach a limit.
func (c *centre) near(d *centre, limit float32) bool {
	s := dot8(&c.heads[0], &d.heads[0])
	return s+c.tail*d.tail >= limit && s+dot8(&c.heads[1], &d.heads[1])+c.second*d.second >= limit
}

func dot8(a, b *[head]float32) float32 {
	return (a[0]*b[0] + a[1]*b[1]) + (a[2]*b[2] + a[3]*b[3]) + (a[4]*b[4] + a[5]*b[5]) + (a[6]*b[6] + a[7]*b[7])
}

// verify joins two rows if they are similar.
func verify(x Matrix, limit float64, i, j int32, u *union) {
	if u.find(i) != u.find(j) && Dot(x.Row(int(i)), x.Row(int(j))) >= limit {
		u.join(i, j)
	}
}
