package stat

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// exactPearson computes r of counts in integers and 200-bit floats.
func exactPearson(a, b []uint64) float64 {
	n := int64(len(a))
	sum := func(x, y []uint64) *big.Int {
		s := new(big.Int)
		for i := range x {
			s.Add(s, new(big.Int).Mul(new(big.Int).SetUint64(x[i]), new(big.Int).SetUint64(y[i])))
		}
		return s
	}
	ones := make([]uint64, n)
	for i := range ones {
		ones[i] = 1
	}
	cov := func(x, y []uint64) *big.Float {
		v := new(big.Int).Mul(big.NewInt(n), sum(x, y))
		v.Sub(v, new(big.Int).Mul(sum(x, ones), sum(y, ones)))
		return new(big.Float).SetPrec(200).SetInt(v)
	}
	d := new(big.Float).SetPrec(200).Mul(cov(a, a), cov(b, b))
	if d.Sign() == 0 {
		return 0
	}
	r, _ := new(big.Float).SetPrec(200).Quo(cov(a, b), d.Sqrt(d)).Float64()
	return r
}

// Large counts with a small variance: nothing may cancel.
// unitCounts writes the unit vector of counts to dst and reports whether they vary.
func unitCounts(dst []float64, x []uint64) bool {
	return Differences(dst, x) && Unit(dst) > 0
}

func TestUnitVectorsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		n := 2 + r.IntN(20)
		base, spread := r.Uint64()>>r.IntN(63), uint64(1)<<r.IntN(20)
		a, b := make([]uint64, n), make([]uint64, n)
		for i := range a {
			a[i], b[i] = base/2+r.Uint64N(spread+1), math.MaxUint64-r.Uint64N(3)
		}
		x, y := make([]float64, n), make([]float64, n)
		vx, vy := unitCounts(x, a), unitCounts(y, b)
		if want := exactPearson(a, b); math.Abs(Dot(x, y)-want) > 1e-12 {
			t.Fatalf("r of %v and %v = %v, want %v", a, b, Dot(x, y), want)
		}
		if vx != (exactPearson(a, a) != 0) || vy != (exactPearson(b, b) != 0) {
			t.Fatalf("%v varies: %v; %v varies: %v", a, vx, b, vy)
		}
	}
}

func TestFolder(t *testing.T) {
	f := NewFolder(4)
	for _, tt := range []struct {
		name string
		n    []uint64
		want int32
	}{
		{"first", []uint64{1, 2, 3, 5}, 0},
		{"a multiple", []uint64{7, 14, 21, 35}, 0},
		{"a multiple and a constant, near 2^63", []uint64{1 << 63, 1<<63 + 3, 1<<63 + 6, 1<<63 + 12}, 0},
		{"constant", []uint64{4, 4, 4, 4}, -1},
		{"nothing", []uint64{0, 0, 0, 0}, -1},
		{"the opposite", []uint64{5, 4, 3, 1}, 1},
		{"not quite the same", []uint64{1000, 2000, 3000, 5001}, 2},
		{"largest", []uint64{0, 0, 0, math.MaxUint64}, 3},
	} {
		if got := f.AddCounts(tt.n); got != tt.want {
			t.Errorf("%s: group %d, want %d", tt.name, got, tt.want)
		}
	}
	if g := f.AddFloats([]float64{1, 2, 3, 5}); g != 4 || f.AddFloats([]float64{2, 4, 6, 10}) != 4 {
		t.Errorf("floats: group %d", g)
	}
	if w := f.Weights()[0]; w != 3 {
		t.Errorf("weight %d", w)
	}
}

func TestResidual(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		n := 4 + r.IntN(30)
		a, b, x := noise(r, n), noise(r, n), noise(r, n)
		Centre(a)
		Centre(b)
		Residual(b, [][]float64{a}, 1e-9)
		Scale(a, 1e12)
		basis := [][]float64{a, make([]float64, n), b}
		Centre(x)
		AddScaled(x, 3, a)
		if !Residual(x, basis, 1e-15) {
			t.Fatal("nothing left")
		}
		for _, v := range basis {
			if c := Dot(x, v); math.Abs(c) > 1e-9*Norm(x)*(Norm(v)+1) {
				t.Errorf("not orthogonal: %v", c)
			}
		}
		y := append([]float64(nil), b...)
		AddScaled(y, 0.5, a)
		if Residual(y, basis, 1e-9) || Norm(y) != 0 {
			t.Errorf("a combination of the basis leaves %v", Norm(y))
		}
	}
}

// Division by a fixed number must agree with division.
func TestReduce(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 2000 {
		x, want := make([]uint64, 1+r.IntN(12)), make([]uint64, 0, 12)
		factor := r.Uint64N(1<<r.IntN(40)) + 1
		for i := range x {
			x[i] = factor * r.Uint64N(1<<r.IntN(24))
		}
		lo, g := slices.Min(x), uint64(0)
		for _, v := range x {
			g = gcd(g, v-lo)
		}
		for _, v := range x {
			want = append(want, (v-lo)/max(g, 1))
		}
		got := make([]uint64, len(x))
		most := reduce(got, x)
		if most != slices.Max(want) || most > 0 && !slices.Equal(got, want) {
			t.Fatalf("%v: got %v, the largest %d, want %v", x, got, most, want)
		}
	}
	for _, by := range []uint64{1, 2, 3, 1 << 63, math.MaxUint64, 6 << 60} {
		d := newDivisor(by)
		for _, v := range []uint64{0, 1, by - 1, by, by + 1, 2 * by, math.MaxUint64} {
			if d.divides(v) != (v%by == 0) || v%by == 0 && d.quotient(v) != v/by {
				t.Errorf("%d / %d: divides %v, quotient %d", v, by, d.divides(v), d.quotient(v))
			}
		}
	}
}
