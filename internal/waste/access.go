package waste

// load is a load of the bytes [lo, hi) of a page.
func (d *Detector) load(p *recentPage, c Context, lo, hi uint32, silent bool) {
	if d.kinds&(1<<DeadStore) != 0 {
		d.see(p.page.stores, lo, hi)
	}
	if !d.kinds.Has(SilentLoad) {
		return
	}
	mine, base := p.mine(d), (p.number-1)<<pageShift
	for i := lo / cellBytes; i*cellBytes < hi; i++ {
		from, to := within(i, lo, hi)
		old := mine[i]
		switch {
		case !silent:
		case old&mixed == 0:
			d.index.add(SilentLoad, Context(old), base+uint64(i*cellBytes+from), to-from)
		default:
			for b := from; b < to; b++ {
				d.index.add(SilentLoad, Context(mine.byteOf(&d.spare, i, b)), base+uint64(i*cellBytes+b), 1)
			}
		}
		if old != uint32(c) {
			mine.put(&d.spare, i, from, to, uint32(c))
		}
	}
}

// see marks stores as read.
func (d *Detector) see(t *cells, lo, hi uint32) {
	if lo%cellBytes == 0 && hi%cellBytes == 0 {
		whole := true
		for i := lo / cellBytes; i < hi/cellBytes; i++ {
			switch c := t[i]; {
			case c&mixed != 0:
				whole = false
			case c != 0:
				t[i] = c | read
			}
		}
		if whole {
			return
		}
	}
	t.each(&d.spare, lo, hi, func(c uint32) uint32 { return c | read })
}

// loadedBefore reports whether the running thread has loaded all of n bytes, and nobody has changed
// them since.
func (d *Detector) loadedBefore(addr uint64, n int) bool {
	all := true
	d.parts(addr, n, func(p *recentPage, lo, hi uint32) {
		if p.loads == nil {
			all = false
			return
		}
		for i := lo / cellBytes; i*cellBytes < hi && all; i++ {
			c := p.loads[i]
			if c == 0 {
				all = false
			} else if c&mixed != 0 {
				from, to := within(i, lo, hi)
				for b := from; b < to; b++ {
					all = all && p.loads.byteOf(&d.spare, i, b) != 0
				}
			}
		}
	})
	return all
}

// store is a store to the bytes [lo, hi) of a page.
func (d *Detector) store(p *recentPage, c Context, lo, hi uint32, same bool) {
	if !same {
		for i := range p.page.loads {
			p.page.loads[i].fill(&d.spare, lo, hi, 0)
		}
	}
	if d.kinds&storeKinds == 0 {
		return
	}
	t, base := p.page.stores, (p.number-1)<<pageShift
	for i := lo / cellBytes; i*cellBytes < hi; i++ {
		from, to := within(i, lo, hi)
		if old := t[i]; old&mixed == 0 {
			d.stored(old, base+uint64(i*cellBytes+from), to-from, same)
		} else {
			for b := from; b < to; b++ {
				d.stored(t.byteOf(&d.spare, i, b), base+uint64(i*cellBytes+b), 1, same)
			}
		}
		t.put(&d.spare, i, from, to, uint32(c))
	}
}

// stored tells of bytes that are stored to, the last store to which was old.
func (d *Detector) stored(old uint32, addr uint64, n uint32, same bool) {
	if old == 0 || d.sites[old&who].thread != d.thread {
		return
	}
	if old&read == 0 && d.kinds.Has(DeadStore) {
		d.index.add(DeadStore, Context(old&who), addr, n)
	}
	if same && d.kinds.Has(SilentStore) {
		d.index.add(SilentStore, Context(old&who), addr, n)
	}
}
