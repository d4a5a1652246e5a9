package stat

import (
	"math"
	"slices"
	"sync"
)

// ClusterOptions are the constants of the clustering.
type ClusterOptions struct {
	Threshold float64 // clusters are merged while their mean similarity is at least this
	Bulk      float64 // rows at least this similar to a representative join it first; >= 1 = off
	BulkAbove int     // only when there are more rows than this; 0 = 4096
	Workers   int     // goroutines, at least 1
}

// Cluster groups the rows of x, unit vectors that stand for weight[i] events each, by average
// linkage (UPGMA) on Pearson's r, until no two clusters have a mean similarity of at least
// Threshold. It returns each row's cluster and the number of clusters; clusters are numbered by
// their smallest row. Similarities that agree to ten digits are ties, and go to the pair with the
// smallest rows.
//
// Up to BulkAbove rows the result is exact. Three facts make it fast: a similarity of clusters is a
// dot product of mean vectors; clusters can only merge within a connected component of the graph of
// pairs at or above the threshold; and merging never raises a similarity above the larger of the
// two that it replaces, so that old maxima stay upper bounds.
func Cluster(x Matrix, weight []int32, opt ClusterOptions) ([]int32, int) {
	m := x.Len()
	if opt.BulkAbove == 0 {
		opt.BulkAbove = 4096
	}
	label := identity(m)
	if opt.Bulk < 1 && m > opt.BulkAbove {
		label, x, weight = bulkFold(x, weight, opt)
	}
	comps := components(x, opt.Threshold, max(1, opt.Workers))
	root := mergeAll(x, weight, comps, opt)
	return compact(label, root)
}

func identity(m int) []int32 {
	id := make([]int32, m)
	for i := range id {
		id[i] = int32(i)
	}
	return id
}

// mergeAll clusters every component and returns for each row the smallest row of its cluster.
func mergeAll(x Matrix, weight []int32, comps [][]int32, opt ClusterOptions) []int32 {
	root := identity(x.Len())
	var wg sync.WaitGroup
	next := make(chan []int32)
	for range max(1, opt.Workers) {
		wg.Go(func() {
			for c := range next {
				newMerger(x, weight, c).run(opt.Threshold, root)
			}
		})
	}
	for _, c := range comps {
		if len(c) > 1 {
			next <- c
		}
	}
	close(next)
	wg.Wait()
	return root
}

// compact numbers the clusters by their smallest original row.
func compact(label, root []int32) ([]int32, int) {
	number, k := make([]int32, len(root)), int32(0)
	out := make([]int32, len(label))
	for i, l := range label {
		c := &number[root[l]]
		if *c == 0 {
			k++
			*c = k
		}
		out[i] = *c - 1
	}
	return out, int(k)
}

// quantum makes ties of similarities that differ by rounding only.
const quantum = 1e10

func quantise(s float64) float64 { return math.Round(s*quantum) / quantum }

// merger does average linkage on the rows of one component, kept as sums of unit vectors.
type merger struct {
	rows   []int32 // row of x of each item, ascending
	sum    Matrix  // weighted sum of each cluster's unit vectors
	weight []float64
	into   []int32 // item -> item that it was merged into, or itself
	live   []int32 // items that are clusters, ascending
	sims   []float64
	near   []int32   // most similar other cluster, smallest item on ties
	best   []float64 // its similarity; an upper bound when stale
	stale  []bool
}

// matrixLimit is the number of items up to which all similarities are kept.
const matrixLimit = 3000

func newMerger(x Matrix, weight []int32, rows []int32) *merger {
	k := len(rows)
	g := &merger{rows: rows, sum: NewMatrix(k, x.N), weight: make([]float64, k), into: identity(k), live: identity(k),
		near: make([]int32, k), best: make([]float64, k), stale: make([]bool, k)}
	for i, r := range rows {
		w := float64(weight[r])
		g.weight[i] = w
		copy(g.sum.Row(i), x.Row(int(r)))
		Scale(g.sum.Row(i), w)
	}
	if k <= matrixLimit {
		g.fill()
	}
	return g
}

func (g *merger) fill() {
	k := len(g.rows)
	g.sims = make([]float64, k*k)
	for i := range k {
		for j := range i {
			s := g.compute(i, j)
			g.sims[i*k+j], g.sims[j*k+i] = s, s
		}
	}
}

func (g *merger) compute(i, j int) float64 {
	return Dot(g.sum.Row(i), g.sum.Row(j)) / (g.weight[i] * g.weight[j])
}

func (g *merger) sim(i, j int) float64 {
	if g.sims != nil {
		return quantise(g.sims[i*len(g.rows)+j])
	}
	return quantise(g.compute(i, j))
}

func (g *merger) run(threshold float64, root []int32) {
	for _, i := range g.live {
		g.find(i)
	}
	for len(g.live) > 1 {
		i, ok := g.closest(quantise(threshold))
		if !ok {
			break
		}
		g.merge(i, g.near[i])
	}
	for i := range g.into {
		root[g.rows[i]] = g.rows[g.owner(int32(i))]
	}
}

func (g *merger) owner(i int32) int32 {
	for g.into[i] != i {
		i = g.into[i]
	}
	return i
}

// find looks for item i's most similar cluster.
func (g *merger) find(i int32) {
	g.best[i], g.near[i], g.stale[i] = math.Inf(-1), -1, false
	for _, j := range g.live {
		if j == i {
			continue
		}
		if s := g.sim(int(i), int(j)); s > g.best[i] {
			g.best[i], g.near[i] = s, j
		}
	}
}

// closest returns the smallest item of the most similar pair, or false if none reaches the
// threshold. Stale items whose bound reaches the top are looked up again before the choice.
func (g *merger) closest(threshold float64) (int32, bool) {
	for {
		top, stale := int32(-1), int32(-1)
		most := math.Inf(-1)
		for _, i := range g.live {
			if b := g.best[i]; b > most {
				top, most, stale = i, b, -1
			}
			if g.stale[i] && g.best[i] == most && stale < 0 {
				stale = i
			}
		}
		if top < 0 || most < threshold {
			return 0, false
		}
		if stale < 0 {
			return top, true
		}
		g.find(stale)
	}
}

// merge joins clusters i and j under the smaller item, which is also the smallest of all members.
func (g *merger) merge(i, j int32) {
	i, j = min(i, j), max(i, j)
	at, _ := slices.BinarySearch(g.live, j)
	g.live = slices.Delete(g.live, at, at+1)
	g.update(int(i), int(j))
	g.into[j] = i
	for _, k := range g.live {
		if k == i {
			continue
		}
		if g.near[k] == i || g.near[k] == j {
			g.stale[k] = true
		} else if s := g.sim(int(k), int(i)); !g.stale[k] && (s > g.best[k] || s == g.best[k] && i < g.near[k]) {
			g.near[k], g.best[k] = i, s
		}
	}
	g.find(i)
}

// update replaces cluster i by the union of i and j (Lance-Williams where similarities are kept).
func (g *merger) update(i, j int) {
	wi, wj, k := g.weight[i], g.weight[j], len(g.rows)
	if g.sims != nil {
		for _, l := range g.live {
			s := (wi*g.sims[i*k+int(l)] + wj*g.sims[j*k+int(l)]) / (wi + wj)
			g.sims[i*k+int(l)], g.sims[int(l)*k+i] = s, s
		}
	}
	AddScaled(g.sum.Row(i), 1, g.sum.Row(j))
	g.weight[i] += wj
}
