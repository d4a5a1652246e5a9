package waste

// Accesses one by one. Most are to whole cells that all say the same, or to a part of one: what they
// find is told without a list.

// Load tells of a load of n bytes.
func (d *Detector) Load(c Context, addr uint64, n int) {
	d.totals[d.thread].Loaded += uint64(n)
	d.LoadAt(c, addr, uint64(n))
}

// Store tells of a store of n bytes; same: it has changed nothing.
func (d *Detector) Store(c Context, addr uint64, n int, same bool) {
	d.totals[d.thread].Stored += uint64(n)
	d.StoreAt(c, addr, uint64(n), same)
}

// LoadAt is Load but for the bytes' count.
func (d *Detector) LoadAt(c Context, addr, n uint64) {
	if d.kinds.Has(FalseSharing) {
		d.line(c, addr, int(n), false)
		d.index.flush(d, c)
	}
	if !d.shadowed(addr, n) {
		return
	}
	if !claimable(d, addr, n, false) {
		return
	}
	if d.kinds.Has(DeadStore) {
		parts(addr, n, func(p part) { d.see(p) })
	}
	if d.kinds.Has(SilentLoad) {
		d.loaded(c, addr, n)
	}
}

// see marks stores as read.
func (d *Detector) see(p part) {
	s := d.stores.at(p.addr)
	if x := *s.cell(p.addr); x&(Fresh|Mixed) != 0 {
		s.each(p, func(p part, x uint32) { s.put(p, x&^Fresh) })
	}
}

// loaded finds what is loaded again.
func (d *Detector) loaded(c Context, addr, n uint64) {
	t := d.loads[d.thread]
	if x, ok := t.same(addr, n); ok {
		if x != 0 {
			d.again(SilentLoad, x, c, addr, n)
		}
	} else if t.known(addr, n) {
		parts(addr, n, func(p part) {
			t.at(p.addr).each(p, func(p part, x uint32) { d.index.add(SilentLoad, Context(x), p.addr, p.n) })
		})
		d.index.flush(d, c)
	}
	parts(addr, n, func(p part) { t.at(p.addr).put(p, uint32(c)) })
	d.tagged(addr, n)
}

// same is what is known of a range, if it is the same of all.
func (t *table) same(addr, n uint64) (x uint32, ok bool) {
	first := true
	for end := addr + n; addr < end; {
		p := part{addr, uint32(min(cellBytes-addr%cellBytes, end-addr))}
		y, ok := t.at(addr).uniform(p)
		if !ok || !first && x != y {
			return 0, false
		}
		x, first = y, false
		addr += uint64(p.n)
	}
	return x, true
}

// known reports whether something is known of all bytes of a range.
func (t *table) known(addr, n uint64) bool {
	all := true
	parts(addr, n, func(p part) {
		t.at(p.addr).each(p, func(_ part, x uint32) { all = all && x != 0 })
	})
	return all
}

// StoreAt is Store but for the bytes' count.
func (d *Detector) StoreAt(c Context, addr, n uint64, same bool) {
	if d.kinds.Has(FalseSharing) {
		d.line(c, addr, int(n), true)
		d.index.flush(d, c)
	}
	if !d.shadowed(addr, n) {
		return
	}
	if !claimable(d, addr, n, true) {
		return
	}
	if !same && d.kinds.Has(SilentLoad) {
		d.changed(addr, n)
	}
	if d.kinds&storeKinds == 0 {
		return
	}
	if x, ok := d.stores.same(addr, n); ok {
		if x&Fresh != 0 {
			d.again(DeadStore, x, c, addr, n)
		}
		if x != 0 && same && d.kinds.Has(SilentStore) {
			d.again(SilentStore, x&^Fresh, c, addr, n)
		}
	} else {
		parts(addr, n, func(p part) {
			d.stores.at(p.addr).each(p, func(p part, x uint32) { d.stored(p, x, same) })
		})
		d.index.flush(d, c)
	}
	parts(addr, n, func(p part) { d.stores.at(p.addr).put(p, uint32(c)|d.fresh) })
}

// stored tells of bytes that are stored to, the last store to which was old.
func (d *Detector) stored(p part, old uint32, same bool) {
	if old == 0 || d.sites[old&who].thread != d.thread {
		return
	}
	if old&Fresh != 0 {
		d.index.add(DeadStore, Context(old&who), p.addr, p.n)
	}
	if same && d.kinds.Has(SilentStore) {
		d.index.add(SilentStore, Context(old&who), p.addr, p.n)
	}
}

// Read says that the system has read n bytes.
func (d *Detector) Read(addr, n uint64) {
	if !d.kinds.Has(DeadStore) {
		return
	}
	d.stores.shadows(addr, n, func(addr, n uint64) {
		ordered(d, addr, n, false)
		parts(addr, n, d.see)
	})
}

// Forget says that n bytes are new, or were written by somebody who is no thread of the program.
func (d *Detector) Forget(addr, n uint64) {
	d.stores.shadows(addr, n, func(addr, n uint64) {
		ordered(d, addr, n, true)
		wipe(d, addr, n)
	})
}

// wipe forgets what is known of a range.
func wipe(d *Detector, addr, n uint64) {
	parts(addr, n, func(p part) {
		if *d.stores.at(p.addr).cell(p.addr) != 0 {
			d.stores.at(p.addr).put(p, 0)
		}
	})
	d.changed(addr, n)
}

// Push tells of a call's store of a return address.
func (d *Detector) Push(addr uint64) { d.Forget(addr, 8) }

// shadows passes what of a range has a shadow.
func (t *table) shadows(addr, n uint64, use func(addr, n uint64)) {
	if n == 0 || addr+n < addr || addr>>spaceBits != 0 {
		return
	}
	end := min(addr+n, 1<<spaceBits)
	for addr < end {
		next := min((addr>>ChunkShift+1)<<ChunkShift, end)
		if t.at(addr).Cells != 0 {
			use(addr, next-addr)
		}
		addr = next
	}
}

// shadowed makes sure that memory has its shadow.
func (d *Detector) shadowed(addr, n uint64) bool {
	last := addr + n - 1
	if n == 0 || last < addr || last>>spaceBits != 0 || d.err != nil {
		return false
	}
	for _, a := range [...]uint64{addr, last} {
		if d.stores.at(a).Cells != 0 && (d.kinds&loadKinds == 0 || d.loads[d.thread].at(a).Cells != 0) {
			continue
		}
		if d.shadow(a); d.err != nil {
			return false
		}
	}
	return true
}

// shadow makes the shadow of an address for the running thread.
func (d *Detector) shadow(addr uint64) {
	if d.err = d.stores.make(&d.memory, addr); d.err == nil && d.kinds&loadKinds != 0 {
		d.err = d.loads[d.thread].make(&d.memory, addr)
	}
}
