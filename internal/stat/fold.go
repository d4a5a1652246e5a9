package stat

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
)

// Folder collects event vectors and keeps each distinct one once: events whose counts are
// the same up to a positive factor and a constant correlate with r = 1 and share a group.
// Groups are numbered in order of first appearance, so equal input gives equal groups.
type Folder struct {
	n      int
	seed   maphash.Seed
	byHash map[uint64][]int32 // hash -> groups
	keys   [][]byte           // per group, to tell collisions apart
	units  []float64          // groups x n
	weight []int32            // members of each group
	ints   []uint64           // scratch
	key    []byte
	vec    []float64
}

// NewFolder returns a folder of vectors with n components.
func NewFolder(n int) *Folder {
	return &Folder{n: n, seed: maphash.MakeSeed(), byHash: map[uint64][]int32{},
		ints: make([]uint64, n), vec: make([]float64, n)}
}

// Len returns the number of groups.
func (f *Folder) Len() int { return len(f.weight) }

// Matrix returns the groups' unit vectors and how many events each stands for.
func (f *Folder) Matrix() Matrix { return Matrix{N: f.n, Rows: f.units} }

// Weights returns how many events each group stands for.
func (f *Folder) Weights() []int32 { return f.weight }

// AddCounts adds an event by its counts. It returns its group, or -1 for a constant event.
func (f *Folder) AddCounts(x []uint64) int32 {
	if !reduce(f.ints, x) {
		return -1
	}
	f.key = append(f.key[:0], 'i')
	for _, v := range f.ints {
		f.key = binary.AppendUvarint(f.key, v)
	}
	return f.group(func(dst []float64) bool { return UnitCounts(dst, f.ints) })
}

// AddFloats adds an event by real values, such as a residual. Values are told apart to nine digits.
func (f *Folder) AddFloats(x []float64) int32 {
	copy(f.vec, x)
	if Unit(f.vec) == 0 {
		return -1
	}
	f.key = append(f.key[:0], 'f')
	for _, v := range f.vec {
		f.key = binary.AppendVarint(f.key, int64(math.Round(v*1e9)))
	}
	return f.group(func(dst []float64) bool { copy(dst, f.vec); return true })
}

func (f *Folder) group(unit func([]float64) bool) int32 {
	h := maphash.Bytes(f.seed, f.key)
	for _, g := range f.byHash[h] {
		if string(f.keys[g]) == string(f.key) {
			f.weight[g]++
			return g
		}
	}
	g := int32(len(f.weight))
	f.units = append(f.units, make([]float64, f.n)...)
	if !unit(f.units[int(g)*f.n:]) {
		f.units = f.units[:int(g)*f.n]
		return -1
	}
	f.byHash[h] = append(f.byHash[h], g)
	f.keys = append(f.keys, slices.Clone(f.key))
	f.weight = append(f.weight, 1)
	return g
}

// reduce writes (x - min)/gcd to dst, the same for all events with r = 1 whose ratio is
// rational, and reports whether x varies.
func reduce(dst, x []uint64) bool {
	if len(x) == 0 {
		return false
	}
	lo := slices.Min(x)
	g := uint64(0)
	for i, v := range x {
		dst[i] = v - lo
		if g != 1 {
			g = gcd(g, v-lo)
		}
	}
	if g > 1 {
		for i := range dst {
			dst[i] /= g
		}
	}
	return g > 0
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Matrix holds vectors of N components, row after row.
type Matrix struct {
	N    int
	Rows []float64
}

// NewMatrix returns a matrix of m rows of n zeros.
func NewMatrix(m, n int) Matrix { return Matrix{N: n, Rows: make([]float64, m*n)} }

// Len returns the number of rows.
func (m Matrix) Len() int {
	if m.N == 0 {
		return 0
	}
	return len(m.Rows) / m.N
}

// Row returns row i.
func (m Matrix) Row(i int) []float64 { return m.Rows[i*m.N : (i+1)*m.N : (i+1)*m.N] }
