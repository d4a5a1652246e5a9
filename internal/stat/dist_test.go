package stat

import (
	"math"
	"testing"
)

// Quantiles of the F distribution as printed tables give them: P(F >= f) = p.
func TestFTailAgainstTables(t *testing.T) {
	for _, tt := range []struct{ p, d1, d2, f float64 }{
		{0.05, 1, 1, 161.4476}, {0.05, 1, 2, 18.5128}, {0.05, 1, 5, 6.6079}, {0.05, 1, 10, 4.9646}, {0.05, 1, 30, 4.1709}, {0.05, 1, 60, 4.0012},
		{0.05, 2, 2, 19.0000}, {0.05, 2, 10, 4.1028}, {0.05, 3, 7, 4.3468}, {0.05, 5, 5, 5.0503}, {0.05, 10, 20, 2.3479}, {0.05, 30, 60, 1.6491},
		{0.01, 1, 5, 16.2582}, {0.01, 1, 10, 10.0443}, {0.01, 2, 20, 5.8489}, {0.01, 5, 10, 5.6363},
		{0.01, 4, 40, 3.8283}, {0.01, 20, 20, 2.9377},
		{0.10, 1, 10, 3.2850}, {0.10, 3, 12, 2.6055}, {0.025, 1, 10, 6.9367}, {0.025, 5, 15, 3.5764},
	} {
		if got := FTail(tt.f, tt.d1, tt.d2); math.Abs(got-tt.p) > 2e-5*math.Max(1, tt.p/0.05) {
			t.Errorf("P(F(%v, %v) >= %v) = %v, want %v", tt.d1, tt.d2, tt.f, got, tt.p)
		}
	}
}

// Two-sided quantiles of Student's t.
func TestTTailAgainstTables(t *testing.T) {
	for _, tt := range []struct{ p, d, x float64 }{
		{0.05, 1, 12.7062}, {0.05, 6, 2.4469}, {0.05, 10, 2.2281}, {0.05, 62, 1.9990}, {0.01, 6, 3.7074}, {0.01, 30, 2.7500}, {0.001, 14, 4.1405},
	} {
		if got := FTail(tt.x*tt.x, 1, tt.d); math.Abs(got-tt.p) > 2e-5 {
			t.Errorf("P(|t(%v)| >= %v) = %v, want %v", tt.d, tt.x, got, tt.p)
		}
	}
}

// With d1 = 2 and with d2 = 2 the tail has closed forms; they hold far out as well.
func TestFTailClosedForms(t *testing.T) {
	for _, f := range []float64{1e-6, 0.1, 1, 7, 1e3, 1e9} {
		for _, d := range []float64{1, 2, 6, 30, 1000} {
			near(t, FTail(f, 2, d), math.Pow(1+2*f/d, -d/2))
			near(t, FTail(f, d, 2), -math.Expm1(d/2*-math.Log1p(2/(d*f))))
		}
	}
	if p := FTail(math.Inf(1), 1, 5); p != 0 {
		t.Errorf("tail at infinity %v", p)
	}
}

func near(t *testing.T, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Abs(want)+1e-300 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The tail is the sum of its terms.
func TestBinomialTail(t *testing.T) {
	for _, p := range []float64{0.02, 0.1, 0.5, 0.9} {
		for n := range 30 {
			sum := 0.0
			for k := n + 1; k >= 0; k-- {
				if k <= n {
					sum += math.Exp(LogChoose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log(1-p))
				}
				if got := BinomialTail(k, n, p); math.Abs(got-sum) > 1e-12 {
					t.Errorf("%d or more of %d with %v: %v, want %v", k, n, p, got, sum)
				}
			}
		}
	}
}

func TestLogChoose(t *testing.T) {
	for _, tt := range []struct {
		n, k int
		want float64
	}{{5, 2, 10}, {10, 5, 252}, {1000, 1, 1000}, {52, 5, 2598960}, {7, 0, 1}} {
		if got := math.Exp(LogChoose(tt.n, tt.k)); math.Abs(got/tt.want-1) > 1e-9 {
			t.Errorf("choose(%d, %d) = %v, want %v", tt.n, tt.k, got, tt.want)
		}
	}
}

// Fisher's interval of r = 0.8 on 28 observations: tanh(atanh(0.8) +- 1.96/5).
func TestSquaredInterval(t *testing.T) {
	lo, hi := SquaredInterval(0.64, 28, 0)
	near(t, lo, math.Pow(math.Tanh(math.Atanh(0.8)-Z95/5), 2))
	near(t, hi, math.Pow(math.Tanh(math.Atanh(0.8)+Z95/5), 2))
	if lo, hi := SquaredInterval(0.64, 3, 0); lo != 0 || hi != 1 {
		t.Errorf("with three observations: %v to %v", lo, hi)
	}
	if lo, hi := SquaredInterval(1, 8, 0); lo != 1 || hi != 1 {
		t.Errorf("perfect fit: %v to %v", lo, hi)
	}
}
