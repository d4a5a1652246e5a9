package ledger

import "math/bits"

// eliminator eliminates the nodes of one component after the other, the ones
// with the fewest neighbours first.
type eliminator struct {
	s      *system
	f      *factor
	excess []float64 // inflow from outside the component, by node; grows as nodes go
	rows   [][]cell  // what leads out of a node, within the component
	preds  [][]int32 // nodes that lead into it (may hold nodes that are gone)
	nIn    []int32
	gone   []bool
	pos    []int32 // scratch: place of a node in a row + 1
	queue  [64][]int32
	lowest int

	cells arena[cell]
	nodes arena[int32]
}

// arena hands out small slices, with room for so many.
type arena[T any] struct{ free []T }

func (a *arena[T]) take(n int) []T {
	if len(a.free) < n {
		a.free = make([]T, max(n, 4096))
	}
	s := a.free[:0:n]
	a.free = a.free[n:]
	return s
}

func newEliminator(s *system, f *factor, outside []float64) *eliminator {
	return &eliminator{
		s: s, f: f, excess: outside,
		rows: make([][]cell, s.n), preds: make([][]int32, s.n), nIn: make([]int32, s.n),
		gone: make([]bool, s.n), pos: make([]int32, s.n),
	}
}

func (el *eliminator) run(comp []int32) []step {
	el.room(comp)
	for _, v := range comp {
		el.load(v)
	}
	for _, v := range comp {
		el.enqueue(v)
	}
	steps := make([]step, 0, len(comp))
	for range comp {
		steps = append(steps, el.eliminate(el.next()))
	}
	el.reset(comp)
	return steps
}

// room makes room for the nodes that lead into each.
func (el *eliminator) room(comp []int32) {
	s := el.s
	for _, v := range comp {
		for _, t := range s.to[s.off[v]:s.off[v+1]] {
			if t >= 0 && t != v && s.comp[t] == s.comp[v] {
				el.nIn[t]++
			}
		}
	}
	for _, v := range comp {
		el.preds[v], el.nIn[v] = el.nodes.take(int(el.nIn[v])), 0
	}
}

// load takes the edges of v that stay in the component, without self-loops, parallel ones added up.
func (el *eliminator) load(v int32) {
	s := el.s
	row := el.cells.take(int(s.off[v+1] - s.off[v]))
	for e := s.off[v]; e < s.off[v+1]; e++ {
		t := s.to[e]
		if t < 0 || t == v || s.comp[t] != s.comp[v] {
			continue
		}
		if p := el.pos[t]; p > 0 {
			row[p-1].n += s.count[e]
			continue
		}
		row = append(row, cell{t, s.count[e]})
		el.pos[t] = int32(len(row))
		el.preds[t] = append(el.preds[t], v)
		el.nIn[t]++
	}
	for _, c := range row {
		el.pos[c.node] = 0
	}
	el.rows[v] = row
}

// bucket orders nodes by the fill that their elimination may cause.
func (el *eliminator) bucket(v int32) int {
	fill := uint64(el.nIn[v]) * uint64(len(el.rows[v]))
	if fill < 16 {
		return int(fill)
	}
	return min(11+bits.Len64(fill), len(el.queue)-1)
}

func (el *eliminator) enqueue(v int32) {
	b := el.bucket(v)
	el.queue[b] = append(el.queue[b], v)
	el.lowest = min(el.lowest, b)
}

// next takes the node with the least fill. Entries of nodes whose fill has changed since are passed
// over: every change has put another entry into the right queue.
func (el *eliminator) next() int32 {
	for {
		q := el.queue[el.lowest]
		if len(q) == 0 {
			el.lowest++
			continue
		}
		v := q[len(q)-1]
		el.queue[el.lowest] = q[:len(q)-1]
		if !el.gone[v] && el.bucket(v) == el.lowest {
			return v
		}
	}
}

func (el *eliminator) eliminate(k int32) step {
	el.gone[k] = true
	st := step{node: k, out: el.rows[k], in: el.cells.take(len(el.preds[k]))}
	pivot := el.excess[k]
	for _, v := range el.preds[k] {
		if el.gone[v] {
			continue
		}
		n := el.take(v, k)
		st.in = append(st.in, cell{v, n})
		pivot += n
	}
	el.f.pivot[k] = pivot
	for _, c := range st.out {
		el.nIn[c.node]--
		if pivot > 0 {
			el.excess[c.node] += el.excess[k] * c.n / pivot
		}
	}
	for _, c := range st.in {
		if pivot > 0 {
			el.spread(c.node, c.n/pivot, st.out)
		}
	}
	el.requeue(st)
	return st
}

func (el *eliminator) requeue(st step) {
	for _, c := range st.in {
		el.enqueue(c.node)
	}
	for _, c := range st.out {
		el.enqueue(c.node)
	}
}

// take removes the edge (v, k) and returns its count.
func (el *eliminator) take(v, k int32) float64 {
	row := el.rows[v]
	for i := range row {
		if row[i].node == k {
			n := row[i].n
			row[i] = row[len(row)-1]
			el.rows[v] = row[:len(row)-1]
			return n
		}
	}
	return 0
}

// spread adds share of the edges out to the row of v.
func (el *eliminator) spread(v int32, share float64, out []cell) {
	row := el.rows[v]
	for i, c := range row {
		el.pos[c.node] = int32(i + 1)
	}
	for _, c := range out {
		if c.node == v {
			continue // a self-loop: the pivot of v does without
		}
		if p := el.pos[c.node]; p > 0 {
			row[p-1].n += share * c.n
			continue
		}
		row = append(row, cell{c.node, share * c.n})
		el.pos[c.node] = int32(len(row))
		el.preds[c.node] = append(el.preds[c.node], v)
		el.nIn[c.node]++
	}
	for _, c := range row {
		el.pos[c.node] = 0
	}
	el.rows[v] = row
}

func (el *eliminator) reset(comp []int32) {
	for i := range el.queue {
		el.queue[i] = el.queue[i][:0]
	}
	el.lowest = 0
	for _, v := range comp {
		el.preds[v] = nil
	}
}
