package analysis

import (
	"fmt"
	"math"
	"slices"
)

// maxPoints is the number of points of a course that are kept; more are pooled with their
// neighbours.
const maxPoints = 1000

// course describes how the loss is spread over the instances.
func course(ts []timing) Course {
	c := shape(ts)
	c.Points = pool(ts, maxPoints)
	return c
}

// shape tries the shapes from the most to the least specific.
func shape(ts []timing) Course {
	lost := make([]float64, len(ts))
	total := 0.0
	for i, t := range ts {
		lost[i] = t.lost
		total += t.lost
	}
	if len(ts) == 1 {
		return Course{Shape: CourseSingle, Share: 1, Text: "There is one instance."}
	}
	if total == 0 {
		return Course{Shape: CourseEven, Share: 1, Text: "No instance loses time."}
	}
	for _, f := range []func([]float64, float64) (Course, bool){dominant, periodic, trend, even} {
		if c, ok := f(lost, total); ok {
			return c
		}
	}
	return Course{Shape: CourseUneven, Share: 1,
		Text: fmt.Sprintf("The loss varies from instance to instance, without a pattern (%d instances).", len(ts))}
}

// dominant: one instance loses most of the time: three times the mean, or, of a few instances,
// three quarters.
func dominant(lost []float64, total float64) (Course, bool) {
	i := argmax(lost)
	share := lost[i] / total
	if share < 0.5 || share < min(0.75, 3/float64(len(lost))) {
		return Course{}, false
	}
	if i == 0 {
		return Course{Shape: CourseFirst, Seq: 0, Share: share,
			Text: fmt.Sprintf("%.1f %% of the loss falls on the first of %d instances.", share*100, len(lost))}, true
	}
	return Course{Shape: CourseOne, Seq: i, Share: share,
		Text: fmt.Sprintf("%.1f %% of the loss falls on instance %d of %d.", share*100, i+1, len(lost))}, true
}

func argmax(x []float64) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}

// periodic: every k-th instance loses most, the others little.
func periodic(lost []float64, total float64) (Course, bool) {
	for k := 2; k <= min(64, len(lost)/3); k++ {
		sums := make([]float64, k)
		counts := make([]float64, k)
		for i, v := range lost {
			sums[i%k] += v
			counts[i%k]++
		}
		p := argmax(sums)
		others := (total - sums[p]) / (float64(len(lost)) - counts[p])
		if mean := sums[p] / counts[p]; mean > 3*others && steady(lost, p, k, mean) {
			return Course{Shape: CoursePeriodic, Period: k, Phase: p, Share: sums[p] / total,
				Text: fmt.Sprintf("Every %s instance loses most: %.1f %% of the loss falls on instances %d, %d, %d, ...",
					ordinal(k), sums[p]/total*100, p+1, p+k+1, p+2*k+1)}, true
		}
	}
	return Course{}, false
}

// steady reports whether each of the instances p, p+k, ... loses at least half of their mean.
func steady(lost []float64, p, k int, mean float64) bool {
	for i := p; i < len(lost); i += k {
		if lost[i] < mean/2 {
			return false
		}
	}
	return true
}

func ordinal(k int) string {
	switch {
	case k%100/10 != 1 && k%10 == 2:
		return fmt.Sprintf("%dnd", k)
	case k%100/10 != 1 && k%10 == 3:
		return fmt.Sprintf("%drd", k)
	case k%100/10 != 1 && k%10 == 1:
		return fmt.Sprintf("%dst", k)
	}
	return fmt.Sprintf("%dth", k)
}

// trend: the loss grows or shrinks steadily over the run, by half at least.
func trend(lost []float64, total float64) (Course, bool) {
	n := len(lost)
	if n < 6 {
		return Course{}, false
	}
	first, last := 0.0, 0.0
	for i := range n / 3 {
		first, last = first+lost[i], last+lost[n-1-i]
	}
	r := rankTrend(lost)
	switch {
	case r > 0.7 && last > 1.5*first:
		return Course{Shape: CourseGrowing, Share: last / total,
			Text: fmt.Sprintf("The loss grows: the last third of the instances loses %s what the first third does.", times3(last, first))}, true
	case r < -0.7 && first > 1.5*last:
		return Course{Shape: CourseShrinking, Share: first / total,
			Text: fmt.Sprintf("The loss shrinks: the first third of the instances loses %s what the last third does.", times3(first, last))}, true
	}
	return Course{}, false
}

func times3(a, b float64) string {
	if b == 0 || a/b > 1000 {
		return "many times"
	}
	return fmt.Sprintf("%.1f times", a/b)
}

// rankTrend is Spearman's correlation of the values with their index.
func rankTrend(x []float64) float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return 0
	})
	rank := make([]float64, len(x))
	for lo := 0; lo < len(order); {
		hi := lo
		for hi < len(order) && x[order[hi]] == x[order[lo]] {
			hi++
		}
		for _, i := range order[lo:hi] {
			rank[i] = float64(lo+hi-1) / 2
		}
		lo = hi
	}
	return pearsonWithIndex(rank)
}

func pearsonWithIndex(x []float64) float64 {
	m := float64(len(x)-1) / 2
	var xy, xx, yy float64
	for i, v := range x {
		a, b := float64(i)-m, v-m
		xy, xx, yy = xy+a*b, xx+a*a, yy+b*b
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// even: the instances lose about the same (coefficient of variation below a quarter).
func even(lost []float64, total float64) (Course, bool) {
	m, q := total/float64(len(lost)), 0.0
	for _, v := range lost {
		q += (v - m) * (v - m)
	}
	if math.Sqrt(q/float64(len(lost))) > m/4 {
		return Course{}, false
	}
	return Course{Shape: CourseEven, Share: 1, Text: fmt.Sprintf("All %d instances lose about the same.", len(lost))}, true
}

// pool makes at most limit points of the instances.
func pool(ts []timing, limit int) []Point {
	step := (len(ts) + limit - 1) / max(1, limit)
	var out []Point
	for lo := 0; lo < len(ts); lo += step {
		out = append(out, poolPoint(ts[lo:min(lo+step, len(ts))]))
	}
	return out
}

func poolPoint(ts []timing) Point {
	p := Point{Seq: ts[0].seq, Count: len(ts)}
	span := 0.0
	for _, t := range ts {
		p.LostTime, p.Time = p.LostTime+t.lost, p.Time+t.time
		span += t.time * float64(t.n)
	}
	p.Imbalance = ratio(p.LostTime, span)
	return p
}
