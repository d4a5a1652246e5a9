package stat

import "math"

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

// Select chooses predictors of y among the rows of x by forward selection: the one with
// the largest partial F, kept if its p < alpha, until none is. y and the rows must be unit
// vectors. Of candidates that fit as well, one that grows with y goes before one that shrinks, then
// the smallest index. There are never more predictors than n-2.
func Select(y []float64, x Matrix, alpha float64) Model {
	return newSelection(y, x).run(alpha)
}

type selection struct {
	y, res []float64 // y and what is left of it
	x      Matrix
	left   Matrix // what is left of each candidate
	gone   []bool
	model  Model
	basis  [][]float64 // orthonormal
	r      [][]float64 // r[k][j]: chosen predictor k's component on basis j
}

func newSelection(y []float64, x Matrix) *selection {
	return &selection{y: y, res: append([]float64(nil), y...), x: x,
		left: Matrix{N: x.N, Rows: append([]float64(nil), x.Rows...)}, gone: make([]bool, x.Len())}
}

func (s *selection) run(alpha float64) Model {
	n := len(s.y)
	for len(s.basis) < n-2 && Dot(s.res, s.res) > nilResidual && Norm(s.y) > 0 {
		best, r2 := s.best()
		if best < 0 {
			break
		}
		st := s.test(best, r2, n-len(s.basis)-2)
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
	for i := range s.gone {
		if s.gone[i] {
			continue
		}
		v := s.left.Row(i)
		vv := Dot(v, v)
		if vv < MinTolerance*Dot(s.x.Row(i), s.x.Row(i)) || vv == 0 {
			s.gone[i] = true
			continue
		}
		c := Dot(v, s.res)
		r2 := c * c / (vv * yy)
		if r2 > most+1e-12 || r2 > most-1e-12 && r2 > 0 && c > 0 && !up {
			best, most, up = i, r2, c > 0
		}
	}
	return best, math.Min(1, most)
}

// test computes the partial F of a candidate with df residual degrees of freedom.
func (s *selection) test(i int, r2 float64, df int) Step {
	yy := Dot(s.res, s.res)
	f := math.Inf(1)
	if r2 < 1 {
		f = r2 * float64(df) / (1 - r2)
	}
	return Step{Index: i, F: f, P: FTail(f, 1, float64(df)), Partial: r2 * yy, Total: 1 - yy*(1-r2), Left: yy * (1 - r2)}
}

// take adds a candidate to the model and removes its direction from y and all others.
func (s *selection) take(i int, st Step) {
	q := append([]float64(nil), s.x.Row(i)...)
	coef := make([]float64, len(s.basis)+1)
	for range 2 {
		for j, b := range s.basis {
			c := Dot(q, b)
			coef[j] += c
			AddScaled(q, -c, b)
		}
	}
	coef[len(s.basis)] = Norm(q)
	Scale(q, 1/Norm(q))
	s.basis, s.r, s.gone[i] = append(s.basis, q), append(s.r, coef), true
	AddScaled(s.res, -Dot(s.res, q), q)
	for j := range s.gone {
		if !s.gone[j] {
			v := s.left.Row(j)
			AddScaled(v, -Dot(v, q), q)
		}
	}
	s.model.Steps = append(s.model.Steps, st)
	s.model.R2 = math.Max(0, math.Min(1, 1-Dot(s.res, s.res)/Dot(s.y, s.y)))
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
func Swap(y []float64, x Matrix, m Model, at int) []float64 {
	s := newSelection(y, x)
	for k, st := range m.Steps {
		if k != at {
			s.take(st.Index, st)
		}
	}
	out := make([]float64, x.Len())
	base := 1 - Dot(s.res, s.res)/Dot(y, y)
	for i := range out {
		v := s.left.Row(i)
		if vv := Dot(v, v); !s.gone[i] && vv > MinTolerance*Dot(x.Row(i), x.Row(i)) {
			c := Dot(v, s.res)
			out[i] = math.Min(1, base+c*c/(vv*Dot(y, y)))
		}
	}
	return out
}
