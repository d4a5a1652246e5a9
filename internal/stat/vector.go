package stat

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Dot returns the scalar product of two vectors of the same length.
func Dot(a, b []float64) float64 { return floats.Dot(a, b[:len(a)]) }

// Norm returns the Euclidean length, safe against overflow.
func Norm(a []float64) float64 {
	if s := Dot(a, a); s > 1e-200 && s < 1e200 {
		return math.Sqrt(s)
	}
	return scaledNorm(a)
}

func scaledNorm(a []float64) float64 {
	max := 0.0
	for _, x := range a {
		max = math.Max(max, math.Abs(x))
	}
	if max == 0 || math.IsInf(max, 0) || math.IsNaN(max) {
		return max
	}
	s := 0.0
	for _, x := range a {
		s += (x / max) * (x / max)
	}
	return max * math.Sqrt(s)
}

// AddScaled adds f*b to a.
func AddScaled(a []float64, f float64, b []float64) { floats.AddScaled(a, f, b[:len(a)]) }

// Scale multiplies a by f.
func Scale(a []float64, f float64) { floats.Scale(f, a) }

// Mean returns the mean, 0 of nothing.
func Mean(a []float64) float64 {
	if len(a) == 0 {
		return 0
	}
	n := float64(len(a))
	if s := floats.Sum(a); !math.IsInf(s, 0) {
		return s / n
	}
	s := 0.0
	for _, x := range a {
		s += x / n
	}
	return s
}

// Centre subtracts the mean, twice, so that the rounding of the first pass goes too.
func Centre(a []float64) {
	for range 2 {
		m := Mean(a)
		for i := range a {
			a[i] -= m
		}
	}
}

// relNil is the part of a vector's length below which what is left of it is rounding.
const relNil = 1e-13

// Unit centres a and scales it to length 1. It returns the length that the centred vector
// had; 0 means that a is constant, and a is then all 0.
func Unit(a []float64) float64 {
	size := Norm(a)
	Centre(a)
	n := Norm(a)
	if !(n > relNil*size) || math.IsInf(n, 0) {
		clear(a)
		return 0
	}
	Scale(a, 1/n)
	return n
}

// Differences writes x - min(x) to dst, exact in integers before it becomes a float: counts near
// 2^63 that differ by 1 stay apart. It reports whether x varies at all.
func Differences(dst []float64, x []uint64) bool {
	if len(x) == 0 {
		return false
	}
	lo, hi := x[0], x[0]
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
	}
	for i, v := range x {
		dst[i] = float64(v - lo)
	}
	return hi > lo
}

// Pearson returns the correlation of a and b, 0 if one of them is constant.
func Pearson(a, b []float64) float64 {
	x, y := append([]float64(nil), a...), append([]float64(nil), b...)
	if Unit(x) == 0 || Unit(y) == 0 {
		return 0
	}
	return clampR(Dot(x, y))
}

func clampR(r float64) float64 { return math.Max(-1, math.Min(1, r)) }
