package waste

// Which threads have loaded on a line. A store that changes something makes all threads forget what
// they have loaded; the tags tell who that is.

// tagOf is the tag of a thread.
func tagOf(thread uint32) uint16 { return uint16(min(thread+1, Several)) }

// lines passes the lines of a range, and what part of it lies there.
func lines(addr, n uint64, use func(addr, n uint64)) {
	for end := addr + n; addr < end; {
		k := min(lineBytes-addr%lineBytes, end-addr)
		use(addr, k)
		addr += k
	}
}

// tagged notes that the running thread has loaded.
func (d *Detector) tagged(addr, n uint64) {
	mine := tagOf(d.thread)
	lines(addr, n, func(addr, _ uint64) {
		switch tag := d.stores.at(addr).tag(addr); *tag {
		case mine:
		case nobody:
			*tag = mine
		default:
			*tag = Several
		}
	})
}

// changed makes all threads forget what they have loaded of a range.
func (d *Detector) changed(addr, n uint64) {
	lines(addr, n, func(addr, n uint64) {
		tag := d.stores.at(addr).tag(addr)
		if *tag == nobody {
			return
		}
		if *tag == tagOf(d.thread) && *tag != Several {
			own := d.loads[d.thread].at(addr)
			parts(addr, n, func(p part) { own.put(p, 0) })
			return
		}
		left := uint16(nobody)
		for thread, t := range d.loads {
			mine := tagOf(uint32(thread))
			if t == nil || mine != *tag && *tag != Several {
				continue
			}
			c := t.at(addr)
			if c.Cells == 0 {
				continue
			}
			parts(addr, n, func(p part) { c.put(p, 0) })
			switch {
			case !c.holds(addr):
			case left == nobody:
				left = mine
			default:
				left = Several
			}
		}
		*tag = left
	})
}

// holds reports whether anything is known of the line of an address.
func (c *Chunk) holds(addr uint64) bool {
	var all uint32
	for a := addr &^ (lineBytes - 1); a < addr|(lineBytes-1); a += cellBytes {
		all |= *c.cell(a)
	}
	return all != 0
}
