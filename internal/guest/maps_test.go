package guest

import (
	"math/rand"
	"testing"
)

const propPages = 64

// slowMap is the reference: one cell a page.
type slowMap [propPages]*mapping

func (s *slowMap) set(lo, hi uint64, m *mapping) {
	for p := lo / pageSize; p < hi/pageSize; p++ {
		s[p] = nil
		if m != nil {
			c := m.sub(p*pageSize, (p+1)*pageSize)
			s[p] = &c
		}
	}
}

func (s *slowMap) gapBelow(n uint64) uint64 {
	for at := int(propPages - n/pageSize); at >= 1; at-- {
		free := true
		for k := at; k < at+int(n/pageSize); k++ {
			free = free && s[k] == nil
		}
		if free {
			return uint64(at) * pageSize
		}
	}
	return 0
}

func TestMapTableAgainstSlowMap(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	files := []*mappedFile{nil, {path: "a", ino: 1}, {path: "b", ino: 2}}
	for round := 0; round < 200; round++ {
		var fast mapTable
		var slow slowMap
		for step := 0; step < 60; step++ {
			lo := uint64(1+r.Intn(propPages-2)) * pageSize
			hi := lo + uint64(1+r.Intn(int(propPages-lo/pageSize)))*pageSize
			if hi > propPages*pageSize {
				hi = propPages * pageSize
			}
			switch r.Intn(3) {
			case 0:
				m := mapping{lo: lo, hi: hi, prot: r.Intn(2), file: files[r.Intn(3)]}
				if m.file != nil {
					m.off = lo + uint64(r.Intn(2))*pageSize
				}
				fast.set(m)
				slow.set(lo, hi, &m)
			case 1:
				fast.remove(lo, hi)
				slow.set(lo, hi, nil)
			case 2:
				fast.protect(lo, hi, 7)
				for p := lo / pageSize; p < hi/pageSize; p++ {
					if slow[p] != nil {
						slow[p].prot = 7
					}
				}
			}
			compareMaps(t, &fast, &slow)
			n := uint64(1+r.Intn(8)) * pageSize
			if g, w := fast.gapBelow(pageSize, propPages*pageSize, n, pageSize), slow.gapBelow(n); g != w {
				t.Fatalf("gap of %#x: %#x, want %#x", n, g, w)
			}
		}
	}
}

func compareMaps(t *testing.T, fast *mapTable, slow *slowMap) {
	t.Helper()
	for p := uint64(0); p < propPages; p++ {
		m, ok := fast.find(p*pageSize + 17)
		if ok != (slow[p] != nil) {
			t.Fatalf("page %d: mapped %v, want %v", p, ok, !ok)
		}
		if ok && m.sub(p*pageSize, (p+1)*pageSize) != *slow[p] {
			t.Fatalf("page %d: %+v, want %+v", p, m, *slow[p])
		}
	}
	for i := 1; i < len(fast.rows); i++ {
		a, b := fast.rows[i-1], fast.rows[i]
		if a.hi > b.lo || a.lo >= a.hi || a.continues(b) {
			t.Fatalf("rows %d, %d out of order or not joined: %+v %+v", i-1, i, a, b)
		}
	}
}
