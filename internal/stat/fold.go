package stat

import (
	"bytes"
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
	table  []int32     // by hash, with linear probing: group + 1
	groups []keyed     // what is known of each
	weight []int32     // members of each group
	blocks [][]byte    // the keys
	floats [][]float64 // of groups of real values: the first vector
	ints   []uint64    // scratch
	key    []byte
	vec    []float64
}

// keyed is where a group's key stands, and its hash. A key is the width in bytes of its values, or
// 0 for real values, and the values.
type keyed struct {
	hash   uint64
	block  int32
	off    int32
	floats int32 // of groups of real values
}

// keyBlock is the size of a block of keys, unless a single key is larger. The first are smaller:
// each has room for as many keys as the table, which grows with them.
const keyBlock = 1 << 20

// NewFolder returns a folder of vectors with n components.
func NewFolder(n int) *Folder {
	return &Folder{n: n, seed: maphash.MakeSeed(), table: make([]int32, 64), ints: make([]uint64, n), vec: make([]float64, n)}
}

// Len returns the number of groups.
func (f *Folder) Len() int { return len(f.weight) }

// Weights returns how many events each group stands for.
func (f *Folder) Weights() []int32 { return f.weight }

// Matrix makes the groups' unit vectors.
func (f *Folder) Matrix(workers int) Matrix {
	x := NewMatrix(f.Len(), f.n)
	parallel(f.Len(), workers, func(g int) {
		row, key := x.Row(g), f.keyOf(g)
		if key[0] == realKey {
			copy(row, f.floats[f.groups[g].floats])
			return
		}
		decode(row, key)
		Unit(row)
	})
	return x
}

// AddCounts adds an event by its counts. It returns its group, or -1 for a constant event.
func (f *Folder) AddCounts(x []uint64) int32 {
	most := reduce(f.ints, x)
	if most == 0 {
		return -1
	}
	f.key = encode(f.key[:0], f.ints, most)
	g, _ := f.group()
	return g
}

// AddFloats adds an event by real values, such as a residual. Values are told apart to nine digits.
func (f *Folder) AddFloats(x []float64) int32 {
	copy(f.vec, x)
	if Unit(f.vec) == 0 {
		return -1
	}
	f.key = append(f.key[:0], realKey)
	for _, v := range f.vec {
		f.key = binary.LittleEndian.AppendUint64(f.key, uint64(int64(math.Round(v*1e9))))
	}
	g, first := f.group()
	if first {
		f.groups[g].floats = int32(len(f.floats))
		f.floats = append(f.floats, slices.Clone(f.vec))
	}
	return g
}

// group returns the group of the key at hand, and whether that is a new one.
func (f *Folder) group() (g int32, first bool) {
	h := maphash.Bytes(f.seed, f.key)
	mask := uint64(len(f.table) - 1)
	at := h & mask
	for ; f.table[at] != 0; at = (at + 1) & mask {
		g := f.table[at] - 1
		if f.groups[g].hash == h && bytes.Equal(f.keyOf(int(g)), f.key) {
			f.weight[g]++
			return g, false
		}
	}
	g = int32(len(f.groups))
	f.table[at] = g + 1
	f.groups = append(f.groups, f.keep(h))
	f.weight = append(f.weight, 1)
	if 2*len(f.groups) > len(f.table) {
		f.grow()
	}
	return g, true
}

// keep copies the key at hand.
func (f *Folder) keep(hash uint64) keyed {
	last := len(f.blocks) - 1
	if last < 0 || cap(f.blocks[last])-len(f.blocks[last]) < len(f.key) {
		f.blocks = append(f.blocks, make([]byte, 0, max(len(f.key), min(keyBlock, len(f.key)*len(f.table)/2))))
		last++
	}
	b := &f.blocks[last]
	k := keyed{hash: hash, block: int32(last), off: int32(len(*b))}
	*b = append(*b, f.key...)
	return k
}

func (f *Folder) keyOf(g int) []byte {
	k := &f.groups[g]
	b := f.blocks[k.block][k.off:]
	return b[:1+f.n*keyWidth(b[0])]
}

// grow doubles the table.
func (f *Folder) grow() {
	f.table = make([]int32, 2*len(f.table))
	mask := uint64(len(f.table) - 1)
	for g := range f.groups {
		at := f.groups[g].hash & mask
		for f.table[at] != 0 {
			at = (at + 1) & mask
		}
		f.table[at] = int32(g) + 1
	}
}

// realKey is in the place of the width in keys of real values.
const realKey = 0

func keyWidth(first byte) int {
	if first == realKey {
		return 8
	}
	return int(first)
}

// encode appends the width that the largest value needs, and the values.
func encode(key []byte, values []uint64, most uint64) []byte {
	switch {
	case most < 1<<8:
		key = append(key, 1)
		for _, v := range values {
			key = append(key, byte(v))
		}
	case most < 1<<16:
		key = append(key, 2)
		for _, v := range values {
			key = binary.LittleEndian.AppendUint16(key, uint16(v))
		}
	case most < 1<<32:
		key = append(key, 4)
		for _, v := range values {
			key = binary.LittleEndian.AppendUint32(key, uint32(v))
		}
	default:
		key = append(key, 8)
		for _, v := range values {
			key = binary.LittleEndian.AppendUint64(key, v)
		}
	}
	return key
}

// decode reads the values of a key.
func decode(dst []float64, key []byte) {
	values := key[1:]
	for i := range dst {
		switch key[0] {
		case 1:
			dst[i] = float64(values[i])
		case 2:
			dst[i] = float64(binary.LittleEndian.Uint16(values[2*i:]))
		case 4:
			dst[i] = float64(binary.LittleEndian.Uint32(values[4*i:]))
		default:
			dst[i] = float64(binary.LittleEndian.Uint64(values[8*i:]))
		}
	}
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
