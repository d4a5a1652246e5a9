package x86

import "sync"

// table is one constant of rows and the map that they belong to.
type table struct {
	name   string
	manual string
	opmap  int
	mixed  bool // rows begin with their encodings; else all are legacy
	rows   string
}

func allTables() []table {
	return []table{
		{"oneByteRows", "Intel SDM vol. 2D, tables A-2 and A-6", 0, false, oneByteRows},
		{"x87Rows", "Intel SDM vol. 2D, tables A-7 to A-22", 0, false, x87Rows},
		{"twoByteRows", "Intel SDM vol. 2D, tables A-3 and A-6", 1, false, twoByteRows},
		{"sseRows", "Intel SDM vol. 2D, tables A-3 and A-6", 1, true, sseRows},
		{"rows0F38", "Intel SDM vol. 2D, table A-4", 2, true, rows0F38},
		{"rows0F3A", "Intel SDM vol. 2D, table A-5", 3, true, rows0F3A},
		{"rowsMap5", "Intel SDM vol. 2, AVX512-FP16", 5, true, rowsMap5},
		{"rowsMap6", "Intel SDM vol. 2, AVX512-FP16", 6, true, rowsMap6},
		{"xop8Rows", "AMD APM vol. 4", 8, true, xop8Rows},
		{"xop9Rows", "AMD APM vol. 3 and 4", 9, true, xop9Rows},
		{"xopARows", "AMD APM vol. 3", 10, true, xopARows},
	}
}

const (
	numMaps  = 11
	endChain = 0xffff
)

// index finds the rows of an opcode: heads leads into chains, a list of row
// numbers, the most specific first, that endChain closes. Head 0 is empty.
type index struct {
	rows   []row
	heads  [numClasses][numMaps][4][256]uint16
	chains []uint16
}

// decodeIndex is built from the constant tables at the first use, since most of
// lime's commands decode nothing, and never changes.
var decodeIndex = sync.OnceValue(func() *index { return mustIndex(allTables()) })

func mustIndex(ts []table) *index {
	ix, err := buildIndex(ts)
	if err != nil {
		panic(err) // a constant table is wrong; every test fails
	}
	return ix
}

func buildIndex(ts []table) (*index, error) {
	ix := &index{chains: []uint16{endChain}}
	var lists [numClasses][numMaps][4][256][]uint16
	for _, t := range ts {
		rows, err := parseTable(t)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			n := uint16(len(ix.rows))
			ix.rows = append(ix.rows, r)
			for c := range numClasses {
				if r.encs&(1<<c) != 0 {
					addRow(&lists[c][t.opmap], &r, n)
				}
			}
		}
	}
	for c := range lists {
		for m := range lists[c] {
			for p := range lists[c][m] {
				for o, l := range lists[c][m][p] {
					ix.heads[c][m][p][o] = ix.addChain(l)
				}
			}
		}
	}
	return ix, nil
}

func addRow(lists *[4][256][]uint16, r *row, n uint16) {
	for p := range lists {
		if r.pp >= 0 && int(r.pp) != p {
			continue
		}
		for o := int(r.first); o <= int(r.last); o++ {
			lists[p][o] = append(lists[p][o], n)
		}
	}
}

// addChain stores the rows of one opcode, those with the narrowest condition first.
func (ix *index) addChain(list []uint16) uint16 {
	if len(list) == 0 {
		return 0
	}
	sorted := append([]uint16(nil), list...)
	for i := 1; i < len(sorted); i++ {
		for j := i; j > 0 && ix.narrow(sorted[j]) > ix.narrow(sorted[j-1]); j-- {
			sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
		}
	}
	head := uint16(len(ix.chains))
	ix.chains = append(append(ix.chains, sorted...), endChain)
	return head
}

// narrow ranks a row: one with a fixed prefix before one with any, then by the
// number of bits that it asks for.
func (ix *index) narrow(n uint16) int {
	r := &ix.rows[n]
	rank := popcount(r.mask)
	if r.pp >= 0 {
		rank += 100
	}
	return rank
}

func popcount(v uint16) (n int) {
	for ; v != 0; v &= v - 1 {
		n++
	}
	return n
}

// find returns the row of an opcode that the selector satisfies, or nil.
func (ix *index) find(class, opmap, pp, op int, sel uint16) *row {
	for _, n := range ix.chains[ix.heads[class][opmap][pp][op]:] {
		if n == endChain {
			break
		}
		if r := &ix.rows[n]; sel&r.mask == r.want {
			return r
		}
	}
	return nil
}

// hasModRM reports whether the opcode is followed by a ModRM byte. All rows
// of one opcode agree on it (a test holds that).
func (ix *index) hasModRM(class, opmap, pp, op int) (has, known bool) {
	n := ix.chains[ix.heads[class][opmap][pp][op]]
	if n == endChain {
		return false, false
	}
	return ix.rows[n].attr&attrModRM != 0, true
}
