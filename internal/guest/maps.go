package guest

import "sort"

// pageSize is the only page size of the guest.
const pageSize = 4096

func pageDown(a uint64) uint64 { return a &^ (pageSize - 1) }
func pageUp(a uint64) uint64   { return (a + pageSize - 1) &^ (pageSize - 1) }

// mapping is one range of pages with equal attributes.
type mapping struct {
	lo, hi uint64
	prot   int
	shared bool
	file   *mappedFile // nil: anonymous
	off    uint64      // file offset of lo
	name   string      // "[heap]", "[stack]" or ""
}

// mappedFile identifies the file behind mappings.
type mappedFile struct {
	path     string
	dev, ino uint64
}

// continues says that b is the seamless continuation of a.
func (a mapping) continues(b mapping) bool {
	if a.hi != b.lo || a.prot != b.prot || a.shared != b.shared || a.name != b.name {
		return false
	}
	if a.file == nil || b.file == nil {
		return a.file == b.file
	}
	return *a.file == *b.file && a.off+(a.hi-a.lo) == b.off
}

// sub is the part of m in [lo, hi).
func (m mapping) sub(lo, hi uint64) mapping {
	lo, hi = max(lo, m.lo), min(hi, m.hi)
	if m.file != nil {
		m.off += lo - m.lo
	}
	m.lo, m.hi = lo, hi
	return m
}

// mapTable is an interval map: disjoint mappings in order of address.
type mapTable struct {
	rows []mapping
	last int // the row that was found last

	indexed   bool            // what follows is that of the rows as they are
	writers   []mapping       // the mappings through which shared memory is written
	codeFiles map[fileID]bool // the files that are mapped as code
}

// first is the index of the first mapping that ends above a.
func (t *mapTable) first(a uint64) int {
	return sort.Search(len(t.rows), func(i int) bool { return t.rows[i].hi > a })
}

// find is the mapping that holds a.
func (t *mapTable) find(a uint64) (mapping, bool) {
	if i := t.last; i < len(t.rows) && t.rows[i].lo <= a && a < t.rows[i].hi {
		return t.rows[i], true
	}
	i := t.first(a)
	if i < len(t.rows) && t.rows[i].lo <= a {
		t.last = i
		return t.rows[i], true
	}
	return mapping{}, false
}

// overlap lists the parts of mappings that lie in [lo, hi).
func (t *mapTable) overlap(lo, hi uint64) []mapping {
	var out []mapping
	for i := t.first(lo); i < len(t.rows) && t.rows[i].lo < hi; i++ {
		out = append(out, t.rows[i].sub(lo, hi))
	}
	return out
}

// covered says that every page of [lo, hi) is mapped.
func (t *mapTable) covered(lo, hi uint64) bool {
	for i := t.first(lo); lo < hi; i++ {
		if i >= len(t.rows) || t.rows[i].lo > lo {
			return false
		}
		lo = t.rows[i].hi
	}
	return true
}

// replace puts rows (disjoint, in order, within [lo, hi)) in place of all that is in [lo, hi).
func (t *mapTable) replace(lo, hi uint64, rows ...mapping) {
	if lo >= hi {
		return
	}
	i := t.first(lo)
	j := i
	var mid []mapping
	if i < len(t.rows) && t.rows[i].lo < lo {
		mid = append(mid, t.rows[i].sub(0, lo))
	}
	mid = append(mid, rows...)
	for ; j < len(t.rows) && t.rows[j].lo < hi; j++ {
		if t.rows[j].hi > hi {
			mid = append(mid, t.rows[j].sub(hi, t.rows[j].hi))
		}
	}
	if i > 0 { // let the neighbours take part in the joining
		i--
		mid = append([]mapping{t.rows[i]}, mid...)
	}
	if j < len(t.rows) {
		mid = append(mid, t.rows[j])
		j++
	}
	t.splice(i, j, joined(mid))
}

// splice puts mid in place of rows [i, j).
func (t *mapTable) splice(i, j int, mid []mapping) {
	t.indexed = false
	if len(mid) == j-i {
		copy(t.rows[i:j], mid)
		return
	}
	tail := append([]mapping(nil), t.rows[j:]...)
	t.rows = append(append(t.rows[:i], mid...), tail...)
}

// joined merges neighbours that continue each other.
func joined(rows []mapping) []mapping {
	out := rows[:0]
	for _, m := range rows {
		if m.lo >= m.hi {
			continue
		}
		if n := len(out); n > 0 && out[n-1].continues(m) {
			out[n-1].hi = m.hi
			continue
		}
		out = append(out, m)
	}
	return out
}

// set maps m, replacing what was there; remove unmaps; protect changes rights.
func (t *mapTable) set(m mapping)        { t.replace(m.lo, m.hi, m) }
func (t *mapTable) remove(lo, hi uint64) { t.replace(lo, hi) }
func (t *mapTable) protect(lo, hi uint64, prot int) {
	rows := t.overlap(lo, hi)
	for i := range rows {
		rows[i].prot = prot
	}
	t.replace(lo, hi, rows...)
}

// gapBelow finds the highest free range of n bytes that lies in [lo, hi), or 0.
func (t *mapTable) gapBelow(lo, hi, n, align uint64) uint64 {
	i := t.first(hi - 1)
	if i < len(t.rows) && t.rows[i].lo < hi {
		hi = t.rows[i].lo
	}
	for i--; ; i-- {
		floor := lo
		if i >= 0 {
			floor = max(lo, t.rows[i].hi)
		}
		if hi >= n && (hi-n)&^(align-1) >= floor && hi > floor {
			return (hi - n) &^ (align - 1)
		}
		if i < 0 || t.rows[i].lo <= lo {
			return 0
		}
		hi = t.rows[i].lo
	}
}
