package stat

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// planted returns m vectors of n components: noisy copies of a few patterns, exact copies, and
// small integers (which tie often).
func planted(r *rand.Rand, m, n int) Matrix {
	x := NewMatrix(0, n)
	base := make([][]float64, 1+r.IntN(6))
	for i := range base {
		base[i] = noise(r, n)
	}
	noisy := r.Float64() * 0.6
	for len(x.Rows) < m*n {
		v := slices.Clone(base[r.IntN(len(base))])
		switch r.IntN(4) {
		case 0:
			AddScaled(v, noisy, noise(r, n))
		case 1:
			for i := range v {
				v[i] = float64(r.IntN(3))
			}
		case 2:
			Scale(v, -1)
		}
		if Unit(v) > 0 {
			x.Rows = append(x.Rows, v...)
		}
	}
	return x
}

func noise(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	return v
}

func weights(r *rand.Rand, m int) []int32 {
	w := make([]int32, m)
	for i := range w {
		w[i] = 1 + int32(r.IntN(4))*int32(r.IntN(2))
	}
	return w
}

// sets turns labels into sorted lists of members.
func sets(label []int32, k int) [][]int {
	out := make([][]int, k)
	for i, l := range label {
		out[l] = append(out[l], i)
	}
	return out
}

func TestClusterAgainstReference(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := []int{2, 3, 4, 8, 16, 33}[r.IntN(6)]
		x := planted(r, 1+r.IntN(40), n)
		w := weights(r, x.Len())
		threshold := []float64{0.9, 0.6, 0.99, 0, -0.5}[r.IntN(5)]
		want := slowClusters(x, w, threshold)
		for _, c := range want {
			slices.Sort(c)
		}
		slices.SortFunc(want, func(a, b []int) int { return a[0] - b[0] })
		label, k := Cluster(x, w, ClusterOptions{Threshold: threshold, Bulk: 1, Workers: 1 + r.IntN(3)})
		if got := sets(label, k); !equalSets(got, want) {
			t.Fatalf("seed %d, %d threads, threshold %v: got %v, want %v", seed, n, threshold, got, want)
		}
	}
}

func equalSets(a, b [][]int) bool { return slices.EqualFunc(a, b, slices.Equal[[]int]) }

func TestClusterWithoutMatrix(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	x := planted(r, 120, 12)
	w := weights(r, x.Len())
	rows := identity(x.Len())
	kept, computed := identity(x.Len()), identity(x.Len())
	newMerger(x, w, rows).run(0.7, kept)
	g := newMerger(x, w, rows)
	g.sims = nil
	g.run(0.7, computed)
	if !slices.Equal(kept, computed) {
		t.Errorf("with and without the matrix: %v, %v", kept, computed)
	}
}

// latents makes noisy copies of a few vectors, and says which.
func latents(r *rand.Rand, m, n, k int, noisy float64) (Matrix, []int) {
	base := make([][]float64, k)
	for i := range base {
		base[i] = noise(r, n)
		Unit(base[i])
	}
	x, from := NewMatrix(m, n), make([]int, m)
	for i := range m {
		from[i] = r.IntN(k)
		copy(x.Row(i), base[from[i]])
		AddScaled(x.Row(i), noisy*r.Float64(), scaledNoise(r, n))
		Unit(x.Row(i))
	}
	return x, from
}

func scaledNoise(r *rand.Rand, n int) []float64 {
	v := noise(r, n)
	Unit(v)
	return v
}

// Above the limit the bulk step and the hash must find what the exact way finds.
func TestBulkFindsTheSameClusters(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	x, from := latents(r, 3000, 64, 20, 0.3)
	w := weights(r, x.Len())
	exact, k := Cluster(x, w, ClusterOptions{Threshold: 0.9, Bulk: 1, Workers: 2})
	bulk, kb := Cluster(x, w, ClusterOptions{Threshold: 0.9, Bulk: 0.99, BulkAbove: 100, Workers: 2})
	if k != 20 || kb != 20 || !slices.Equal(exact, bulk) {
		t.Fatalf("%d clusters exactly, %d in bulk", k, kb)
	}
	for i := range from {
		for _, j := range []int{0, i / 2} {
			if (from[i] == from[j]) != (exact[i] == exact[j]) {
				t.Fatalf("rows %d and %d: latents %d, %d, clusters %d, %d", i, j, from[i], from[j], exact[i], exact[j])
			}
		}
	}
	u := newUnion(x.Len())
	hashedPairs(x, 0.9, 2, u)
	if sets := u.sets(); len(sets) != 20 {
		t.Errorf("the hash finds %d components, want 20", len(sets))
	}
}

// The order of rows and of components must not matter where nothing ties.
func TestClusterInvariance(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	x, _ := latents(r, 400, 24, 7, 0.8)
	w := weights(r, x.Len())
	want, _ := Cluster(x, w, ClusterOptions{Threshold: 0.9, Bulk: 1, Workers: 1})
	rows, cols := r.Perm(x.Len()), r.Perm(x.N)
	y, v := NewMatrix(x.Len(), x.N), make([]int32, len(w))
	for i, p := range rows {
		v[i] = w[p]
		for j, q := range cols {
			y.Row(i)[j] = x.Row(p)[q]
		}
	}
	got, _ := Cluster(y, v, ClusterOptions{Threshold: 0.9, Bulk: 1, Workers: 3})
	for i, p := range rows {
		for j, q := range rows {
			if (got[i] == got[j]) != (want[p] == want[q]) {
				t.Fatalf("rows %d and %d", p, q)
			}
		}
	}
}

func BenchmarkCluster(b *testing.B) {
	for _, m := range []int{1000, 10_000} {
		x, _ := latents(rand.New(rand.NewPCG(1, 1)), m, 64, 24, 0.6)
		w := weights(rand.New(rand.NewPCG(1, 1)), m)
		b.Run(strconv.Itoa(m), func(b *testing.B) {
			for b.Loop() {
				Cluster(x, w, ClusterOptions{Threshold: 0.9, Bulk: 0.99, Workers: 2})
			}
		})
	}
}
