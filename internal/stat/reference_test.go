package stat

import "math"

// Slow, plain forms of what the package computes fast.

// slowClusters is average linkage by its definition: all pairs of members, anew at every step.
func slowClusters(x Matrix, weight []int32, threshold float64) [][]int {
	var cs [][]int
	for i := range x.Len() {
		cs = append(cs, []int{i})
	}
	for {
		a, b, most := -1, -1, math.Inf(-1)
		for i := range cs {
			for j := i + 1; j < len(cs); j++ {
				if s := quantise(slowLinkage(x, weight, cs[i], cs[j])); s > most {
					a, b, most = i, j, s
				}
			}
		}
		if a < 0 || most < quantise(threshold) {
			return cs
		}
		cs[a] = append(cs[a], cs[b]...)
		cs = append(cs[:b], cs[b+1:]...)
	}
}

func slowLinkage(x Matrix, weight []int32, a, b []int) float64 {
	s, w := 0.0, 0.0
	for _, i := range a {
		for _, j := range b {
			f := float64(weight[i]) * float64(weight[j])
			s, w = s+f*slowPearson(x.Row(i), x.Row(j)), w+f
		}
	}
	return s / w
}

// slowPearson is the textbook formula.
func slowPearson(a, b []float64) float64 {
	n := float64(len(a))
	ma, mb := 0.0, 0.0
	for i := range a {
		ma, mb = ma+a[i]/n, mb+b[i]/n
	}
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - ma) * (b[i] - mb)
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// slowSelect is forward selection by solving every model's normal equations anew.
func slowSelect(y []float64, x Matrix, alpha float64) []int {
	var chosen []int
	rss := Dot(y, y)
	for len(chosen) < len(y)-2 && rss > nilResidual*Dot(y, y) {
		best, least := -1, rss
		for c := range x.Len() {
			if r, ok := slowRSS(y, x, append(append([]int(nil), chosen...), c)); ok && r < least-1e-12*rss {
				best, least = c, r
			}
		}
		if best < 0 {
			break
		}
		df := float64(len(y) - len(chosen) - 2)
		if f := (rss - least) / (least / df); !(FTail(f, 1, df) < alpha) {
			break
		}
		chosen, rss = append(chosen, best), least
	}
	return chosen
}

// slowRSS returns the residual sum of squares of y on the rows given, by Gaussian elimination
// with pivoting; false if they are collinear.
func slowRSS(y []float64, x Matrix, rows []int) (float64, bool) {
	k := len(rows)
	a := make([][]float64, k)
	for i := range a {
		a[i] = make([]float64, k+1)
		for j := range k {
			a[i][j] = Dot(x.Row(rows[i]), x.Row(rows[j]))
		}
		a[i][k] = Dot(x.Row(rows[i]), y)
	}
	beta, ok := slowSolve(a)
	if !ok {
		return 0, false
	}
	res := append([]float64(nil), y...)
	for i, r := range rows {
		AddScaled(res, -beta[i], x.Row(r))
	}
	return Dot(res, res), true
}

func slowSolve(a [][]float64) ([]float64, bool) {
	k := len(a)
	for c := range k {
		p := c
		for r := c; r < k; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[p][c]) {
				p = r
			}
		}
		if math.Abs(a[p][c]) < MinTolerance {
			return nil, false
		}
		a[c], a[p] = a[p], a[c]
		for r := range k {
			if r != c {
				f := a[r][c] / a[c][c]
				for j := c; j <= k; j++ {
					a[r][j] -= f * a[c][j]
				}
			}
		}
	}
	beta := make([]float64, k)
	for i := range beta {
		beta[i] = a[i][k] / a[i][i]
	}
	return beta, true
}
