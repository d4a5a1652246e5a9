package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// response makes times that follow some rows of x, with noise.
func response(r *rand.Rand, x Matrix, noisy float64) []float64 {
	y := make([]float64, x.N)
	for range 1 + r.IntN(3) {
		AddScaled(y, 2*r.Float64()-0.5, x.Row(r.IntN(x.Len())))
	}
	AddScaled(y, noisy/math.Sqrt(float64(x.N)), noise(r, x.N))
	Unit(y)
	return y
}

func TestSelectAgainstTextbook(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 11))
		n := []int{3, 4, 6, 8, 16, 40}[r.IntN(6)]
		x := NewMatrix(0, n)
		for range 1 + r.IntN(12) {
			if v := noise(r, n); Unit(v) > 0 {
				x.Rows = append(x.Rows, v...)
			}
		}
		y := response(r, x, []float64{0, 0.1, 1}[r.IntN(3)])
		m, want := NewSelector(y, x).Select(0.05), slowSelect(y, x, 0.05)
		if len(m.Steps) != len(want) {
			t.Fatalf("seed %d: %d predictors, want %d (%+v)", seed, len(m.Steps), len(want), m.Steps)
		}
		for k, st := range m.Steps {
			if st.Index != want[k] {
				t.Errorf("seed %d: predictor %d is %d, want %d", seed, k, st.Index, want[k])
			}
		}
		checkModel(t, seed, y, x, m)
	}
}

// checkModel compares coefficients and R^2 with least squares by another library.
func checkModel(t *testing.T, seed uint64, y []float64, x Matrix, m Model) {
	t.Helper()
	k := len(m.Steps)
	if k == 0 {
		return
	}
	a := mat.NewDense(x.N, k, nil)
	for j, st := range m.Steps {
		a.SetCol(j, x.Row(st.Index))
	}
	var beta mat.Dense
	if err := beta.Solve(a, mat.NewDense(x.N, 1, y)); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	for j := range k {
		if math.Abs(m.Beta[j]-beta.At(j, 0)) > 1e-8 {
			t.Errorf("seed %d: beta %v, want %v", seed, m.Beta[j], beta.At(j, 0))
		}
	}
}

func TestSelectDegenerate(t *testing.T) {
	unit := func(v ...float64) []float64 { Unit(v); return v }
	y := unit(1, 2, 3, 4)
	same := Matrix{N: 4, Rows: append(append([]float64(nil), y...), y...)}
	minus := Matrix{N: 4, Rows: append(unit(4, 3, 2, 1), y...)}
	for _, tt := range []struct {
		name string
		y    []float64
		x    Matrix
		want []int
	}{
		{"nothing to choose", y, Matrix{N: 4}, nil},
		{"identical: the first, and once", y, same, []int{0}},
		{"opposite: the one that grows with y", y, minus, []int{1}},
		{"constant times", make([]float64, 4), same, nil},
		{"two threads", unit(1, 2), Matrix{N: 2, Rows: unit(1, 2)}, nil},
	} {
		m := NewSelector(tt.y, tt.x).Select(0.05)
		if len(m.Steps) != len(tt.want) || len(m.Steps) > 0 && m.Steps[0].Index != tt.want[0] {
			t.Errorf("%s: %+v", tt.name, m.Steps)
		}
		for _, b := range m.Beta {
			if math.IsNaN(b) || math.Abs(b-1) > 1e-9 {
				t.Errorf("%s: beta %v", tt.name, b)
			}
		}
	}
}

// Under pure noise the guarded model must not claim more often than alpha, whatever the number of
// candidates.
func TestFamilyPUnderNoise(t *testing.T) {
	const runs, alpha = 400, 0.05
	for _, tt := range []struct{ n, candidates int }{{6, 50}, {8, 300}, {32, 200}} {
		r := rand.New(rand.NewPCG(uint64(tt.n), 5))
		raw, guarded := 0, 0
		for range runs {
			x := NewMatrix(tt.candidates, tt.n)
			for i := range tt.candidates {
				copy(x.Row(i), noise(r, tt.n))
				Unit(x.Row(i))
			}
			y := noise(r, tt.n)
			Unit(y)
			m := NewSelector(y, x).Select(alpha)
			if len(m.Steps) > 0 {
				raw++
			}
			for _, p := range FamilyP(m, tt.n, tt.candidates) {
				if p < alpha {
					guarded++
					break
				}
			}
		}
		if raw < runs/2 {
			t.Errorf("%d threads, %d candidates: the test is too easy, %d of %d chose something", tt.n, tt.candidates, raw, runs)
		}
		// 20 expected at most; 34 is three standard deviations above.
		if guarded > 34 {
			t.Errorf("%d threads, %d candidates: %d false of %d, want at most %v", tt.n, tt.candidates, guarded, runs, alpha)
		}
	}
}

func TestFamilyPKeepsTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	x := NewMatrix(200, 8)
	for i := range 200 {
		copy(x.Row(i), noise(r, 8))
		Unit(x.Row(i))
	}
	y := append([]float64(nil), x.Row(17)...)
	AddScaled(y, 0.5, x.Row(101))
	Unit(y)
	m := NewSelector(y, x).Select(0.05)
	for k, p := range FamilyP(m, 8, 200) {
		if p > 0.05 {
			t.Errorf("predictor %d (%d) of a perfect fit: p %v", k, m.Steps[k].Index, p)
		}
	}
}

// without is what a vector becomes when a component is left out.
func without(v []float64, out int) []float64 {
	w := slices.Delete(slices.Clone(v), out, out+1)
	Unit(w)
	return w
}

// A model with a component left out must be the model of the vectors that are left.
func TestSelectWithout(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 21))
		n := 3 + r.IntN(20)
		x := planted(r, 1+r.IntN(60), n)
		for range r.IntN(4) { // events of one thread only, nearly
			v := make([]float64, n)
			v[r.IntN(n)] = 1
			AddScaled(v, []float64{0, 1e-15, 1e-9, 1e-6, 1e-3, 0.03}[r.IntN(6)], noise(r, n))
			Unit(v)
			x.Rows = append(x.Rows, v...)
		}
		y := response(r, x, r.Float64())
		if r.IntN(3) == 0 {
			y = slices.Clone(x.Row(x.Len() - 1))
		}
		s := NewSelector(y, x)
		for out := range n {
			less := Matrix{N: n - 1}
			for i := range x.Len() {
				less.Rows = append(less.Rows, without(x.Row(i), out)...)
			}
			want, got := NewSelector(without(y, out), less).Select(0.05), s.SelectWithout(out, 0.05)
			if !sameModel(want, got) {
				t.Fatalf("seed %d, %d of %d threads left out: got %+v, want %+v", seed, out, n, got, want)
			}
		}
	}
}

// sameModel compares the steps of two models.
func sameModel(a, b Model) bool {
	return slices.EqualFunc(a.Steps, b.Steps, func(x, y Step) bool {
		return x.Index == y.Index && math.Abs(x.Partial-y.Partial) < 1e-7 && math.Abs(x.P-y.P) < 1e-7
	})
}

func TestSwap(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	x := planted(r, 30, 16)
	y := response(r, x, 0.2)
	m := NewSelector(y, x).Select(0.05)
	if len(m.Steps) == 0 {
		t.Fatal("nothing chosen")
	}
	swapped := NewSelector(y, x).Swap(m, 0)
	for c := range x.Len() {
		rows := []int{c}
		for _, st := range m.Steps[1:] {
			rows = append(rows, st.Index)
		}
		if rss, ok := slowRSS(y, x, rows); ok && math.Abs(1-rss-swapped[c]) > 1e-7 {
			t.Errorf("candidate %d: R^2 %v, want %v", c, swapped[c], 1-rss)
		}
	}
}
