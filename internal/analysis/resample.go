package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
)

// The instances of a section are a sample of what the program may do. How far a cause rests on few
// of them is found by drawing as many instances again, with replacement (the bootstrap): a cause
// that one instance in many has brought is missing from a good third of the draws. It costs nothing
// but sums, as every instance's outcome is kept.

// resamples is the number of draws.
const resamples = 200

// draws are the resamples of n instances, the same in every run: how often each instance is in
// each.
func draws(n int) [][]int {
	r := rand.New(rand.NewPCG(uint64(n), 1729))
	out := make([][]int, resamples)
	for b := range out {
		out[b] = make([]int, n)
		for range n {
			out[b][r.IntN(n)]++
		}
	}
	return out
}

// resampler judges causes by the draws.
type resampler struct {
	draws  [][]int
	weight []float64
	at     map[int]int // seq -> index
	alpha  float64
}

func newResampler(outs []*outcome, alpha float64) *resampler {
	s := &resampler{draws: draws(len(outs)), weight: make([]float64, len(outs)), at: map[int]int{}, alpha: alpha}
	for i, o := range outs {
		s.weight[i], s.at[o.seq] = o.weight, i
	}
	return s
}

// judge sets how often the cause is found again when the instances are drawn anew, and widens the
// bounds of what it explains by how much that varies between the draws.
func (s *resampler) judge(c *Cause) {
	n := len(s.weight)
	c.StableInstances = 1
	if n > 1 {
		ps, r2 := s.perInstance(c)
		again, spread := 0, make([]float64, 0, resamples)
		for _, times := range s.draws {
			if overInstances(drawn(ps, times), n) < s.alpha {
				again++
			}
			spread = append(spread, s.mean(r2, times))
		}
		c.StableInstances = float64(again) / resamples
		slices.Sort(spread)
		c.R2 = widen(c.R2, spread[resamples/40], spread[resamples-1-resamples/40])
	}
	c.Stability = min(c.StableThreads, c.StableInstances)
}

// perInstance lists the cause's guarded p and its R^2 by instance; where it was not found they are
// 1 and 0.
func (s *resampler) perInstance(c *Cause) (ps, r2 []float64) {
	ps, r2 = make([]float64, len(s.weight)), make([]float64, len(s.weight))
	for i := range ps {
		ps[i] = 1
	}
	for k, in := range c.Instances {
		i := s.at[in.Seq]
		ps[i], r2[i] = c.from.pByIns[k], in.R2
	}
	return ps, r2
}

func drawn(xs []float64, times []int) []float64 {
	out := make([]float64, 0, len(xs))
	for i, n := range times {
		for range n {
			out = append(out, xs[i])
		}
	}
	return out
}

// mean is the weighted mean of a draw.
func (s *resampler) mean(xs []float64, times []int) float64 {
	sum, all := 0.0, 0.0
	for i, n := range times {
		w := float64(n) * s.weight[i]
		sum, all = sum+w*xs[i], all+w
	}
	return ratio(sum, all)
}

// widen joins the bounds from the threads with those from the instances: independent errors, so
// that the squares of the distances add up.
func widen(v Interval, lo, hi float64) Interval {
	return Interval{Value: v.Value,
		Lo: max(0, v.Value-math.Hypot(v.Value-v.Lo, max(0, v.Value-lo))),
		Hi: min(1, v.Value+math.Hypot(v.Hi-v.Value, max(0, hi-v.Value)))}
}
