package stat

import (
	"math"
	"slices"
)

// Step is one predictor that forward selection kept.
type Step struct {
	Index   int     // of the candidate
	F, P    float64 // partial F test when it was chosen
	Partial float64 // part of the variance of y that it added
	Total   float64 // R^2 with it
	Left    float64 // 1 - Total, to more digits
}

// Model is a linear model of y on the chosen candidates, all standardised.
type Model struct {
	Steps []Step
	Beta  []float64 // standardised coefficient of each step's predictor, in the order of Steps
	R2    float64
}

// Constants of the selection.
const (
	MinTolerance = 0.1   // of a candidate's variance, left after those chosen: with less, coefficients of opposite sign grow without limit
	nilResidual  = 1e-12 // of y's variance: below it nothing is left to explain
)

// Selector makes models of one y on the same candidates. It keeps their scalar products with those
// that were ever chosen: no model needs more of them, be it one with a component left out.
type Selector struct {
	y        []float64
	x        Matrix
	size     []float64         // squared length of each candidate
	corr     []float64         // its product with y
	products map[int][]float64 // of a chosen candidate with all
}

// NewSelector prepares the choice of predictors of y, a unit vector, among the rows of x, unit
// vectors or nil ones.
func NewSelector(y []float64, x Matrix) *Selector {
	s := &Selector{y: y, x: x, size: make([]float64, x.Len()), corr: make([]float64, x.Len()), products: map[int][]float64{}}
	for i := range s.size {
		v := x.Row(i)
		s.size[i], s.corr[i] = Dot(v, v), Dot(v, y)
	}
	return s
}

// with returns the products of candidate i with all.
func (s *Selector) with(i int) []float64 {
	p, ok := s.products[i]
	if !ok {
		p = make([]float64, s.x.Len())
		for j := range p {
			p[j] = Dot(s.x.Row(j), s.x.Row(i))
		}
		s.products[i] = p
	}
	return p
}

// Select chooses predictors by forward selection: the one with the largest partial F, kept if its p
// < alpha, until none is. Of candidates that fit as well, one that grows with y goes before one
// that shrinks, then the smallest index. There are never more predictors than n-2.
func (s *Selector) Select(alpha float64) Model {
	return s.start().run(alpha)
}

// start is a selection in which nothing is chosen yet.
func (s *Selector) start() *selection {
	return &selection{candidates: s, n: len(s.y), y: s.y, res: slices.Clone(s.y), size: s.size,
		left: slices.Clone(s.size), corr: slices.Clone(s.corr), gone: make([]bool, len(s.size))}
}

// vector is candidate i.
func (s *Selector) vector(i int) []float64 { return s.x.Row(i) }

// candidates are what a selection chooses among.
type candidates interface {
	vector(i int) []float64
	with(i int) []float64 // its products with all, not to be changed
}

// selection is a model in the making. What the chosen predictors leave of a candidate is known by
// its length and by its product with what they leave of y: both follow from products of candidates,
// and the vector itself is never needed.
type selection struct {
	candidates
	n      int       // components
	y, res []float64 // y and what is left of it
	size   []float64 // squared length of each candidate
	left   []float64 // that of what is left of it
	corr   []float64 // and its product with res
	gone   []bool
	model  Model
	basis  [][]float64 // orthonormal
	along  [][]float64 // [k][i]: candidate i's component on basis k
	r      [][]float64 // r[k][j]: chosen predictor k's component on basis j
}

func (s *selection) run(alpha float64) Model {
	for len(s.basis) < s.n-2 && Dot(s.res, s.res) > nilResidual*Dot(s.y, s.y) {
		best, r2 := s.best()
		if best < 0 {
			break
		}
		st := s.test(best, r2, s.n-len(s.basis)-2)
		if !(st.P < alpha) {
			break
		}
		s.take(best, st)
	}
	s.model.Beta = s.coefficients()
	return s.model
}

// best returns the candidate with the largest squared partial correlation.
func (s *selection) best() (int, float64) {
	best, most, up := -1, 0.0, false
	yy := Dot(s.res, s.res)
	for i, gone := range s.gone {
		if gone {
			continue
		}
		if !s.free(i) {
			s.gone[i] = true
			continue
		}
		c := s.corr[i]
		r2 := c * c / (s.left[i] * yy)
		if r2 > most+1e-12 || r2 > most-1e-12 && r2 > 0 && c > 0 && !up {
			best, most, up = i, r2, c > 0
		}
	}
	return best, math.Min(1, most)
}

// free reports whether enough of a candidate is left.
func (s *selection) free(i int) bool { return s.left[i] > 0 && s.left[i] >= MinTolerance*s.size[i] }

// test computes the partial F of a candidate with df residual degrees of freedom.
func (s *selection) test(i int, r2 float64, df int) Step {
	yy := Dot(s.res, s.res) / Dot(s.y, s.y)
	f := math.Inf(1)
	if r2 < 1 {
		f = r2 * float64(df) / (1 - r2)
	}
	return Step{Index: i, F: f, P: FTail(f, 1, float64(df)), Partial: r2 * yy, Total: 1 - yy*(1-r2), Left: yy * (1 - r2)}
}

// take adds a candidate to the model and removes its direction from y and all others.
func (s *selection) take(i int, st Step) {
	q, coef := s.direction(i)
	last := len(s.basis)
	along, size := slices.Clone(s.with(i)), coef[last]
	for j, a := range s.along {
		AddScaled(along, -coef[j], a)
	}
	Scale(along, 1/size)
	s.basis, s.along, s.r, s.gone[i] = append(s.basis, q), append(s.along, along), append(s.r, coef), true
	c := Dot(s.res, q)
	AddScaled(s.res, -c, q)
	for j, a := range along {
		s.left[j] -= a * a
		s.corr[j] -= a * c
	}
	s.model.Steps = append(s.model.Steps, st)
	s.model.R2 = math.Max(0, math.Min(1, 1-Dot(s.res, s.res)/Dot(s.y, s.y)))
}

// direction is the part of a candidate that is orthogonal to the basis, as a unit vector, and its
// components on the basis with it.
func (s *selection) direction(i int) (q, coef []float64) {
	q, coef = slices.Clone(s.vector(i)), make([]float64, len(s.basis)+1)
	for range 2 { // the second pass removes what rounding left
		for j, b := range s.basis {
			c := Dot(q, b)
			coef[j] += c
			AddScaled(q, -c, b)
		}
	}
	size := Norm(q)
	coef[len(s.basis)] = size
	Scale(q, 1/size)
	return q, coef
}

// coefficients solves the triangular system sum_k beta_k r[k][j] = <y, basis j>.
func (s *selection) coefficients() []float64 {
	beta := make([]float64, len(s.basis))
	for j := len(s.basis) - 1; j >= 0; j-- {
		c := Dot(s.y, s.basis[j])
		for k := j + 1; k < len(beta); k++ {
			c -= beta[k] * s.r[k][j]
		}
		beta[j] = c / s.r[j][j]
	}
	return beta
}

// FamilyP guards predictors that were chosen among many candidates: the chance that noise alone
// lets ANY model of that size fit as well as the chosen one does. It is a union bound over all
// subsets of k of the candidates, with half of the error given to k = 1, a quarter to k = 2,
// and so on. A predictor's figure is the smallest of all prefixes of the model that hold it.
func FamilyP(m Model, n, candidates int) []float64 {
	p := make([]float64, len(m.Steps))
	least := 1.0
	for k := len(p) - 1; k >= 0; k-- {
		least = math.Min(least, prefixP(m.Steps[k].Left, k+1, n, candidates))
		p[k] = least
	}
	return p
}

func prefixP(left float64, k, n, candidates int) float64 {
	d2 := float64(n - k - 1)
	if d2 < 1 {
		return 1
	}
	f := math.Inf(1)
	if left > 0 {
		f = ((1 - left) / float64(k)) / (left / d2)
	}
	tail := FTail(f, float64(k), d2)
	if tail == 0 {
		return 0
	}
	return math.Min(1, math.Exp(math.Log(tail)+LogChoose(candidates, k)+float64(k)*math.Ln2))
}

// Swap returns, for every candidate, the R^2 of the model with that candidate in the stead of
// the predictor of step at.
func (s *Selector) Swap(m Model, at int) []float64 {
	sel := s.start()
	for k, st := range m.Steps {
		if k != at {
			sel.take(st.Index, st)
		}
	}
	out := make([]float64, s.x.Len())
	yy := Dot(s.y, s.y)
	base := 1 - Dot(sel.res, sel.res)/yy
	for i := range out {
		if !sel.gone[i] && sel.free(i) {
			c := sel.corr[i]
			out[i] = math.Min(1, base+c*c/(sel.left[i]*yy))
		}
	}
	return out
}
