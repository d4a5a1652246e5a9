package waste

// Most accesses are to whole cells of one page that all say the same. These are done here, without
// a list of what was found; where something else turns up, the answer is no, nothing has been done,
// and the general form follows.

// whole reports whether an access is to whole cells of one page.
func whole(addr uint64, n int) bool {
	return (addr|uint64(n))%cellBytes == 0 && addr%pageBytes+uint64(n) <= pageBytes && n > 0
}

// uniform reports whether all cells hold the same context, and which.
func uniform(cells []uint32) (c uint32, ok bool) {
	c = cells[0]
	for _, x := range cells[1:] {
		if x != c {
			return 0, false
		}
	}
	return c, c&mixed == 0
}

func (d *Detector) loadWords(c Context, addr uint64, n uint32) bool {
	p := d.at(addr >> pageShift)
	i := uint32(addr%pageBytes) / cellBytes
	stores := p.stores[i : i+n]
	for _, x := range stores {
		if x&mixed != 0 {
			return false
		}
	}
	if d.kinds&loadKinds != 0 {
		if p.loads == nil {
			p.mine(d)
		}
		mine := p.loads[i : i+n]
		old, ok := uniform(mine)
		if !ok {
			return false
		}
		if old != uint32(c) {
			for k := range mine {
				mine[k] = uint32(c)
			}
		}
		if old != 0 {
			d.again(SilentLoad, old, c, addr, int32(n*cellBytes))
		}
	}
	for k, x := range stores {
		if x != 0 && x&read == 0 {
			stores[k] = x | read
		}
	}
	return true
}

// Kinds by what they need.
const (
	storeKinds = 1<<DeadStore | 1<<SilentStore
	loadKinds  = 1 << SilentLoad
)

func (d *Detector) storeWords(c Context, addr uint64, n uint32, same bool) bool {
	p := d.at(addr >> pageShift)
	i := uint32(addr%pageBytes) / cellBytes
	stores := p.stores[i : i+n]
	old, ok := uniform(stores)
	if !ok {
		return false
	}
	if !same {
		for k := range p.page.loads {
			p.page.loads[k].clear(&d.spare, i, n)
		}
	}
	if d.kinds&storeKinds == 0 {
		return true
	}
	for k := range stores {
		stores[k] = uint32(c)
	}
	if old == 0 {
		return true
	}
	if old&read == 0 && d.kinds&(1<<DeadStore) != 0 {
		d.again(DeadStore, old, c, addr, int32(n*cellBytes))
	}
	if same && d.kinds&(1<<SilentStore) != 0 {
		d.again(SilentStore, old&who, c, addr, int32(n*cellBytes))
	}
	return true
}

// clear forgets n cells.
func (t *cells) clear(s *spares, i, n uint32) {
	for k, x := range t[i : i+n] {
		if x&mixed != 0 {
			t.set(s, i+uint32(k), 0)
		}
		t[i+uint32(k)] = 0
	}
}
