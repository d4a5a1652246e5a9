package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

// DrawnTail is the chance that a sum of one value of each list, each of a list's as likely as the
// others, comes to at least so much. It is estimated from drawings in which large values are as much
// more likely as makes that sum the expected one, each weighed by how much more likely it was made
// (importance sampling by exponential tilting); so small chances are known as well as large ones. The
// same question has the same answer.
func DrawnTail(lists [][]float64, least float64) float64 {
	scale, most := 0.0, 0.0
	for _, l := range lists {
		most += slices.Max(l)
		for _, x := range l {
			scale = max(scale, math.Abs(x))
		}
	}
	least -= 1e-9 * scale // sums of the same values in another order
	switch {
	case least > most:
		return 0
	case scale == 0 || tilted(lists, 0) >= least:
		return 1
	}
	list := urns(lists, tiltTo(lists, least, scale))
	rnd := rand.New(rand.NewPCG(1, 1))
	sum := 0.0
	for range drawings {
		if at, weight := draw(list, rnd); at >= least {
			sum += math.Exp(weight)
		}
	}
	return min(1, sum/drawings)
}

// drawings leave an error of some hundredths.
const drawings = 4096

// tiltTo is the tilt that makes a sum the expected one, or makes all but the largest values as good as
// impossible.
func tiltTo(lists [][]float64, sum, scale float64) float64 {
	lo, hi := 0.0, 1e6/scale
	for range 60 {
		if mid := (lo + hi) / 2; tilted(lists, mid) < sum {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// tilted is the expected sum under a tilt.
func tilted(lists [][]float64, tilt float64) (sum float64) {
	for _, l := range lists {
		norm, mean, top := 0.0, 0.0, slices.Max(l)
		for _, x := range l {
			p := math.Exp(tilt * (x - top))
			norm, mean = norm+p, mean+p*x
		}
		sum += mean / norm
	}
	return sum
}

// urn is a list's values with how likely each is, under a tilt, or one before it, and with the logarithm
// of how much less likely it is without.
type urn struct{ values, upTo, weights []float64 }

func urns(lists [][]float64, tilt float64) []urn {
	out := make([]urn, len(lists))
	for i, l := range lists {
		norm, top := 0.0, slices.Max(l)
		for _, x := range l {
			norm += math.Exp(tilt * (x - top))
		}
		u, sum := urn{values: l}, 0.0
		for _, x := range l {
			sum += math.Exp(tilt*(x-top)) / norm
			u.upTo = append(u.upTo, sum)
			u.weights = append(u.weights, math.Log(norm/float64(len(l)))+tilt*(top-x))
		}
		out[i] = u
	}
	return out
}

// draw is a sum of one value of each, and the logarithm of how much less likely it is without the tilt.
func draw(list []urn, rnd *rand.Rand) (sum, weight float64) {
	for i := range list {
		u := &list[i]
		at, k := rnd.Float64(), 0
		for k < len(u.values)-1 && at >= u.upTo[k] {
			k++
		}
		sum, weight = sum+u.values[k], weight+u.weights[k]
	}
	return sum, weight
}
