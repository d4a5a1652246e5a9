package stat

import (
	"cmp"
	"slices"
)

// bulkFold reduces very many rows before the exact clustering: in rounds, from opt.Bulk down to halfway between 1
// and the threshold, every row joins a group whose centre it is similar to, until few
// enough are left. It returns each row's group, and the groups' mean vectors and weights.
// Groups are numbered by their smallest row. Rows that should join but are not found by the hash only
// cost time later.
func bulkFold(x Matrix, weight []int32, opt ClusterOptions) ([]int32, Matrix, []int32) {
	label := identity(x.Len())
	last := min(opt.Bulk, (1+opt.Threshold)/2)
	for _, limit := range []float64{opt.Bulk, (opt.Bulk + last) / 2, last} {
		if x.Len() <= opt.BulkAbove {
			break
		}
		var to []int32
		to, x, weight = foldOnce(x, weight, limit, opt.Workers)
		for i, l := range label {
			label[i] = to[l]
		}
	}
	return label, x, weight
}

// foldOnce is one round. Rows that stand for many events come first: they are the centres that others gather
// around. The order depends on weights and contents only.
func foldOnce(x Matrix, weight []int32, limit float64, workers int) ([]int32, Matrix, []int32) {
	f := &folding{x: x, limit: limit, sums: Matrix{N: x.N}, hash: newHash(x, 4, 12, workers), rows: newPart(x, 0)}
	owner := make([]int32, x.Len())
	for _, i := range heavyFirst(x, weight) {
		g := f.group(i)
		if g < 0 {
			g = f.open(i)
		}
		f.join(g, i, float64(weight[i]))
		owner[i] = f.first[g]
	}
	label, groups := compact(identity(x.Len()), owner)
	return label, means(x, weight, label, groups), sums(weight, label, groups)
}

// folding holds the groups of a round, as sums of their members, and finds them by hash.
type folding struct {
	x     Matrix
	limit float64
	sums  Matrix
	norms []float64
	first []int32 // row that opened the group
	hash  *signHash
	seen  []int32    // group -> row that looked at it last, + 1: a group may stand in several buckets
	rows  screenPart // of the rows, and of the groups' centres: most pairs need no more
	heads screenPart
}

// group returns the most similar group of row i, the earliest on ties, or -1.
func (f *folding) group(i int32) int32 {
	row := f.x.Row(int(i))
	own := Norm(row)
	best, most := int32(-1), f.limit*own
	head, tail, least := &f.rows.heads[i], f.rows.tails[i], float32(most-screenSlack)
	f.hash.each(i, func(g int32) {
		if f.seen[g] == i+1 {
			return
		}
		f.seen[g] = i + 1
		if dot8(head, &f.heads.heads[g])+tail*f.heads.tails[g] < least {
			return
		}
		s := Dot(row, f.sums.Row(int(g))) / f.norms[g]
		if s > most || s == most && (best < 0 || g < best) {
			best, most = g, s
		}
	})
	return best
}

func (f *folding) open(i int32) int32 {
	g := int32(len(f.first))
	f.first = append(f.first, i)
	f.sums.Rows = append(f.sums.Rows, make([]float64, f.x.N)...)
	f.norms = append(f.norms, 0)
	f.seen = append(f.seen, 0)
	f.heads.heads, f.heads.tails = append(f.heads.heads, [head]float32{}), append(f.heads.tails, 0)
	f.hash.add(i, g)
	return g
}

func (f *folding) join(g, i int32, w float64) {
	s := f.sums.Row(int(g))
	AddScaled(s, w, f.x.Row(int(i)))
	f.norms[g] = Norm(s)
	f.heads.set(int(g), s, 0, 1/f.norms[g])
}

func means(x Matrix, weight []int32, label []int32, groups int) Matrix {
	out, total := NewMatrix(groups, x.N), sums(weight, label, groups)
	for i, g := range label {
		AddScaled(out.Row(int(g)), float64(weight[i])/float64(total[g]), x.Row(i))
	}
	return out
}

func sums(weight []int32, label []int32, groups int) []int32 {
	out := make([]int32, groups)
	for i, g := range label {
		out[g] += weight[i]
	}
	return out
}

// heavyFirst sorts the rows by weight, then by their components.
func heavyFirst(x Matrix, weight []int32) []int32 {
	order := identity(x.Len())
	slices.SortStableFunc(order, func(a, b int32) int {
		if weight[a] != weight[b] {
			return cmp.Compare(weight[b], weight[a])
		}
		return slices.Compare(x.Row(int(a)), x.Row(int(b)))
	})
	return order
}
