package ledger

import "math"

// system is the value equation of a pooled graph, in counts instead of
// probabilities: for every node v
//
//	visits(v) V(v) = cost(v) + sum over edges (v, s) of count(v, s) V(s)
//	visits(v)      = excess(v) + sum over edges (u, v) of count(u, v)
//
// Counts and excess are not negative and every visited node can be reached from
// one with an excess, so the matrix is a column diagonally dominant M-matrix. Its
// elimination keeps every pivot as a sum of flows into the node (never as
// visits minus self-loops), so it needs no subtraction, and loops of billions
// of iterations lose no digit.
type system struct {
	n      int
	off    []int32 // edges of v: off[v] to off[v+1]
	to     []int32 // -1: leads nowhere
	count  []float64
	excess []float64
	comps  [][]int32 // strongly connected components, those first that lead to no other
	comp   []int32   // component of every node
}

// values are a double-double number per node: hi + lo.
type values struct{ hi, lo []float64 }

// diff returns V(a) - V(b) with a relative error of rounding only; index -1 stands for 0.
func (x values) diff(a, b int32) float64 {
	ah, al := x.at(a)
	bh, bl := x.at(b)
	return (ah - bh) + (al - bl)
}

func (x values) at(v int32) (hi, lo float64) {
	if v < 0 {
		return 0, 0
	}
	return x.hi[v], x.lo[v]
}

// solve returns the value of every node for the given costs. One step of iterative refinement with
// a residual in double-double arithmetic makes differences of large values exact to rounding.
func (s *system) solve(f *factor, cost []float64) values {
	hi := f.apply(s, cost)
	lo := f.apply(s, s.residual(cost, hi, f.visits))
	for v := range hi {
		hi[v], lo[v] = twoSum(hi[v], lo[v])
	}
	return values{hi, lo}
}

// residual returns cost + count V - visits V, computed in double-double.
func (s *system) residual(cost, x, visits []float64) []float64 {
	r := make([]float64, s.n)
	for v := range r {
		var sum dd
		sum.add(cost[v])
		sum.addProd(-visits[v], x[v])
		for e := s.off[v]; e < s.off[v+1]; e++ {
			if t := s.to[e]; t >= 0 {
				sum.addProd(s.count[e], x[t])
			}
		}
		r[v] = sum.hi + sum.lo
	}
	return r
}

// dd is a double-double accumulator.
type dd struct{ hi, lo float64 }

func (d *dd) add(x float64) {
	h, e := twoSum(d.hi, x)
	d.hi, d.lo = twoSum(h, d.lo+e)
}

// gather adds to a sum that is read as a whole in the end.
func (d *dd) gather(x float64) {
	h, e := twoSum(d.hi, x)
	d.hi, d.lo = h, d.lo+e
}

func (d *dd) addProd(a, b float64) {
	p := a * b
	e := math.FMA(a, b, -p)
	d.add(p)
	d.add(e)
}

func twoSum(a, b float64) (sum, err float64) {
	sum = a + b
	t := sum - a
	return sum, (a - (sum - t)) + (b - t)
}

// factor is the eliminated system. Strongly connected components stand in the
// order in which they can be solved (those that lead nowhere first); within one,
// nodes in the order of their elimination.
type factor struct {
	visits []float64
	steps  [][]step // by component; nil for a single node
	pivot  []float64
}

// step is the elimination of one node: what led into it and out of it at that time.
type step struct {
	node int32
	in   []cell // v, count(v, node)
	out  []cell // s, count(node, s)
}

type cell struct {
	node int32
	n    float64
}

func (s *system) factor() *factor {
	f := &factor{visits: make([]float64, s.n), pivot: make([]float64, s.n)}
	copy(f.visits, s.excess)
	outside := make([]float64, s.n) // inflow from other components, and excess
	copy(outside, s.excess)
	for v := range s.n {
		for e := s.off[v]; e < s.off[v+1]; e++ {
			t := s.to[e]
			if t < 0 {
				continue
			}
			f.visits[t] += s.count[e]
			if s.comp[t] != s.comp[v] {
				outside[t] += s.count[e]
			}
		}
	}
	f.steps = make([][]step, len(s.comps))
	el := newEliminator(s, f, outside)
	for i, c := range s.comps {
		if len(c) == 1 {
			f.pivot[c[0]] = outside[c[0]]
			continue
		}
		f.steps[i] = el.run(c)
	}
	return f
}

// apply solves for one right-hand side.
func (f *factor) apply(s *system, cost []float64) []float64 {
	x := make([]float64, s.n)
	copy(x, cost)
	for i, c := range s.comps {
		for _, v := range c {
			for e := s.off[v]; e < s.off[v+1]; e++ {
				if t := s.to[e]; t >= 0 && s.comp[t] != s.comp[v] {
					x[v] += s.count[e] * x[t]
				}
			}
		}
		if len(c) == 1 {
			x[c[0]] = f.divide(x[c[0]], c[0])
			continue
		}
		f.applyComponent(f.steps[i], x)
	}
	return x
}

func (f *factor) applyComponent(steps []step, x []float64) {
	for _, st := range steps {
		share := f.divide(x[st.node], st.node)
		for _, c := range st.in {
			x[c.node] += c.n * share
		}
	}
	for i := len(steps) - 1; i >= 0; i-- {
		st := steps[i]
		sum := x[st.node]
		for _, c := range st.out {
			sum += c.n * x[c.node]
		}
		x[st.node] = f.divide(sum, st.node)
	}
}

// divide divides by the node's pivot; a node that nothing enters has no value.
func (f *factor) divide(x float64, v int32) float64 {
	if f.pivot[v] == 0 {
		return 0
	}
	return x / f.pivot[v]
}
