package waste

// Accesses of less than a cell: bytes and halves of words.

// bytes is what is known of the bytes [lo, hi) of a cell, if it is the same of all.
func (t *cells) bytes(s *spares, i, lo, hi uint32) (c uint32, ok bool) {
	c = t[i]
	if c&mixed == 0 {
		return c, true
	}
	q := &s.quads[c&^mixed]
	for b := lo + 1; b < hi; b++ {
		if q[b] != q[lo] {
			return 0, false
		}
	}
	return q[lo], true
}

// narrow reports whether an access is to a part of a cell, and to which.
func narrow(addr uint64, n int32) (i, lo, hi uint32, ok bool) {
	lo = uint32(addr % cellBytes)
	hi = lo + uint32(n)
	return uint32(addr % pageBytes / cellBytes), lo, hi, n < cellBytes && hi <= cellBytes
}

// narrowLoad is a load of a part of a cell, if what it touches is of one context. If not, nothing
// is done.
func (d *Detector) narrowLoad(c Context, addr uint64, n int32) bool {
	i, lo, hi, ok := narrow(addr, n)
	if !ok {
		return false
	}
	r := d.at(addr >> pageShift)
	was, ok := r.stores.bytes(&d.spare, i, lo, hi)
	if !ok {
		return false
	}
	if d.quick&loaded != 0 {
		mine := r.mine(d)
		old, ok := mine.bytes(&d.spare, i, lo, hi)
		if !ok {
			return false
		}
		if old != uint32(c) {
			mine.put(&d.spare, i, lo, hi, uint32(c))
		}
		if old != 0 {
			d.again(SilentLoad, old, c, addr, n)
		}
	}
	if d.quick&stored != 0 && was != 0 && was&read == 0 {
		r.stores.put(&d.spare, i, lo, hi, was|read)
	}
	return true
}

// narrowStore is the same of a store.
func (d *Detector) narrowStore(c Context, addr uint64, n int32, same bool) bool {
	i, lo, hi, ok := narrow(addr, n)
	if !ok {
		return false
	}
	r := d.at(addr >> pageShift)
	was, ok := r.stores.bytes(&d.spare, i, lo, hi)
	if !ok || r.shared && !same {
		return false
	}
	if !same && d.quick&loaded != 0 && r.loads != nil {
		r.loads.put(&d.spare, i, lo, hi, 0)
	}
	if d.quick&stored == 0 {
		return true
	}
	if was != uint32(c) {
		r.stores.put(&d.spare, i, lo, hi, uint32(c))
	}
	if was == 0 {
		return true
	}
	if was&read == 0 && d.quick&dead != 0 {
		d.again(DeadStore, was, c, addr, n)
	}
	if same && d.quick&silent != 0 {
		d.again(SilentStore, was&who, c, addr, n)
	}
	return true
}
