package stat

import (
	"cmp"
	"slices"
)

// bulkFold reduces very many rows before the exact clustering: in rounds, from opt.Bulk down to
// halfway between 1 and the threshold, every row joins a group whose centre it is similar to, until
// few enough are left. It returns each row's group, and the groups' mean vectors and weights.
// Groups are numbered by their smallest row. Rows that should join but are not found by the hash
// only cost time later.
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

// foldOnce is one round. Rows that stand for many events come first: they are the centres that
// others gather around. The order depends on weights and contents only.
func foldOnce(x Matrix, weight []int32, limit float64, workers int) ([]int32, Matrix, []int32) {
	f := &folding{x: x, limit: limit, hash: newHash(x, 4, 12, workers)}
	owner := make([]int32, x.Len())
	for _, i := range heavyFirst(x, weight) {
		f.look(i)
		g := f.group(i)
		if g < 0 {
			g = f.open(i)
		}
		f.join(g, i, float64(weight[i]))
		owner[i] = f.first[g]
	}
	label, groups := compact(identity(x.Len()), owner)
	total := sums(weight, label, groups)
	return label, means(x, weight, label, total), total
}

// folding holds the groups of a round, as sums of their members, and finds them by hash.
type folding struct {
	x       Matrix
	limit   float64
	blocks  [][]float64 // the groups' sums, so many rows in a block that none is ever moved
	norms   []float64
	first   []int32 // row that opened the group
	hash    *signHash
	centres []centre
	row     centre // the row at hand
}

// look takes row i to hand.
func (f *folding) look(i int32) { f.row.set(f.x.Row(int(i)), 1) }

// group returns the most similar group of row i, the earliest on ties, or -1.
func (f *folding) group(i int32) int32 {
	row := f.x.Row(int(i))
	best, most := int32(-1), f.limit*Norm(row)
	least, own := float32(most-screenSlack), &f.row
	f.hash.each(i, func(g int32) {
		c := &f.centres[g]
		if c.seen == i+1 {
			return
		}
		c.seen = i + 1
		if !own.near(c, least) {
			return
		}
		s := Dot(row, f.sum(g)) / f.norms[g]
		if s > most || s == most && (best < 0 || g < best) {
			best, most = g, s
			least = float32(most - screenSlack)
		}
	})
	return best
}

// foldBlock is the number of sums in a block.
const foldBlock = 1024

// sum is the sum of a group's members.
func (f *folding) sum(g int32) []float64 {
	at := int(g) % foldBlock * f.x.N
	return f.blocks[g/foldBlock][at : at+f.x.N]
}

func (f *folding) open(i int32) int32 {
	g := int32(len(f.first))
	if g%foldBlock == 0 {
		f.blocks = append(f.blocks, make([]float64, foldBlock*f.x.N))
	}
	f.first = append(f.first, i)
	f.norms = append(f.norms, 0)
	f.centres = append(f.centres, centre{})
	f.hash.add(i, g)
	return g
}

func (f *folding) join(g, i int32, w float64) {
	s := f.sum(g)
	AddScaled(s, w, f.x.Row(int(i)))
	f.norms[g] = Norm(s)
	f.centres[g].set(s, 1/f.norms[g])
}

// means are the weighted means of the rows of each group.
func means(x Matrix, weight, label, total []int32) Matrix {
	out := NewMatrix(len(total), x.N)
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
	type item struct {
		weight, row int32
		first       float64 // component: most rows differ in it
	}
	items := make([]item, x.Len())
	for i := range items {
		items[i] = item{weight[i], int32(i), x.Rows[i*x.N]}
	}
	slices.SortFunc(items, func(a, b item) int {
		switch {
		case a.weight != b.weight:
			return cmp.Compare(b.weight, a.weight)
		case a.first != b.first:
			return cmp.Compare(a.first, b.first)
		}
		return cmp.Or(slices.Compare(x.Row(int(a.row)), x.Row(int(b.row))), cmp.Compare(a.row, b.row))
	})
	order := make([]int32, len(items))
	for k, it := range items {
		order[k] = it.row
	}
	return order
}
