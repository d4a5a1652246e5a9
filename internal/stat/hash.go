package stat

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// bucketLimit is the number of entries of a bucket: those that come later are not found there.
const bucketLimit = 48

// signHash finds similar vectors: rows on the same side of the same random planes share a bucket.
// There are several tables, each with planes of its own, so that similar rows meet in one of them
// with high probability. The planes are the same in every run.
type signHash struct {
	codes  [][]uint16 // table -> row -> code
	tables [][][]int32
}

func newHash(x Matrix, tables, bits, workers int) *signHash {
	h := &signHash{codes: make([][]uint16, tables), tables: make([][][]int32, tables)}
	planes := NewMatrix(tables*bits, x.N)
	r := rand.New(rand.NewPCG(1, 64))
	for i := range planes.Rows {
		planes.Rows[i] = r.NormFloat64()
	}
	for t := range h.codes {
		h.codes[t] = make([]uint16, x.Len())
		h.tables[t] = make([][]int32, 1<<bits)
	}
	parallel(x.Len(), workers, func(i int) {
		for t := range tables {
			h.codes[t][i] = signs(x.Row(i), planes, t*bits, bits)
		}
	})
	return h
}

func signs(row []float64, planes Matrix, first, bits int) (code uint16) {
	for b := range bits {
		code <<= 1
		if Dot(row, planes.Row(first+b)) > 0 {
			code |= 1
		}
	}
	return code
}

// add enters group g under row i's codes.
func (h *signHash) add(i, g int32) {
	for t := range h.tables {
		b := &h.tables[t][h.codes[t][i]]
		if len(*b) < bucketLimit {
			*b = append(*b, g)
		}
	}
}

// each calls f with the groups in row i's buckets, some perhaps more than once.
func (h *signHash) each(i int32, f func(g int32)) {
	for t := range h.tables {
		for _, g := range h.tables[t][h.codes[t][i]] {
			f(g)
		}
	}
}

// parallel calls f for 0 to n-1 from several goroutines.
func parallel(n, workers int, f func(int)) {
	spans(n, workers, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}

// spans calls f for stretches of 0 to n-1 from several goroutines.
func spans(n, workers int, f func(lo, hi int)) {
	const block = 64
	var next atomic.Int64
	var wg sync.WaitGroup
	for range max(1, workers) {
		wg.Go(func() {
			for {
				lo := int(next.Add(block)) - block
				if lo >= n {
					return
				}
				f(lo, min(lo+block, n))
			}
		})
	}
	wg.Wait()
}
