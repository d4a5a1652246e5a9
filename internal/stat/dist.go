package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// FTail returns P(F >= f) for Fisher's F distribution with d1 and d2 degrees of freedom.
func FTail(f, d1, d2 float64) float64 {
	switch {
	case math.IsNaN(f) || d1 <= 0 || d2 <= 0:
		return math.NaN()
	case f <= 0:
		return 1
	case math.IsInf(f, 1):
		return 0
	}
	return mathext.RegIncBeta(d2/2, d1/2, d2/(d2+d1*f))
}

// BinomialTail returns the probability of k or more of n independent events of probability p.
func BinomialTail(k, n int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), p)
}

// LogChoose returns ln of the number of ways to choose k of n.
func LogChoose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	l := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	return l(n) - l(k) - l(n-k)
}

// Z95 is the two-sided 95 % quantile of the normal distribution.
const Z95 = 1.959963984540054

// SquaredInterval returns the 95 % confidence bounds of a squared correlation r2 that was
// found on n observations beside others further predictors, by Fisher's z. With too few
// observations the bounds are 0 and 1.
func SquaredInterval(r2 float64, n, others int) (lo, hi float64) {
	df := float64(n - others - 3)
	switch {
	case r2 >= 1-1e-12:
		return 1, 1
	case df <= 0:
		return 0, 1
	}
	z, w := math.Atanh(math.Sqrt(math.Max(r2, 0))), Z95/math.Sqrt(df)
	lo, hi = math.Tanh(math.Max(0, z-w)), math.Tanh(z+w)
	return lo * lo, hi * hi
}
