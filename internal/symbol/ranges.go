package symbol

import (
	"cmp"
	"slices"
	"sort"
)

// span is a range of addresses that belongs to something.
type span struct {
	lo, hi uint64
	id     int32
}

// spans finds the innermost span at an address: of those around it, the one that starts last; of
// equal ones the last. It holds them cut into pieces that do not overlap.
type spans struct{ pieces []span }

func newSpans(s []span) spans {
	slices.SortStableFunc(s, func(a, b span) int { return cmp.Or(cmp.Compare(a.lo, b.lo), -cmp.Compare(a.hi, b.hi)) })
	var c cutter
	for _, x := range s {
		c.to(x.lo)
		c.open = append(c.open, x)
	}
	c.to(^uint64(0))
	return spans{c.pieces}
}

// cutter sweeps over spans in order; open are those that have started, the innermost last.
type cutter struct {
	pieces, open []span
	pos          uint64
}

// to moves to an address and gives what lies before it to the spans open there.
func (c *cutter) to(addr uint64) {
	for n := len(c.open); n > 0; n-- {
		top := c.open[n-1]
		if end := min(top.hi, addr); end > c.pos {
			c.pieces = append(c.pieces, span{c.pos, end, top.id})
			c.pos = end
		}
		if top.hi > addr {
			break
		}
		c.open = c.open[:n-1]
	}
	c.pos = max(c.pos, addr)
}

// find returns the id of the span at an address, -1 for none.
func (t *spans) find(pc uint64) int32 {
	i := sort.Search(len(t.pieces), func(i int) bool { return t.pieces[i].lo > pc }) - 1
	if i < 0 || pc >= t.pieces[i].hi {
		return -1
	}
	return t.pieces[i].id
}

// maxRanges bounds the ranges of one unit: entries may share lists, so that a small hostile file
// could name very many.
const maxRanges = 1 << 22

// ranges calls add for every range of an entry.
func (u *unit) ranges(e *die, add func(lo, hi uint64)) {
	low, hasLowPC := u.address(e.vals[hasLow])
	if h := e.vals[hasHigh]; hasLowPC && h.form != 0 {
		high, isAddr := u.address(h)
		if !isAddr {
			high = low + h.u
		}
		if high > low {
			add(low, high)
		}
	}
	v := e.vals[hasRanges]
	switch {
	case v.form == 0:
	case u.version >= 5:
		u.rangeList5(v, add)
	default:
		off := v.u
		if u.d.split {
			off += u.rangeBase
		}
		u.rangeList(off, add)
	}
}

// rangeList reads a list of .debug_ranges (DWARF 2 to 4).
func (u *unit) rangeList(off uint64, add func(lo, hi uint64)) {
	c := at(u.d.sections.ranges, off)
	base := u.low
	highest := ^uint64(0) >> (64 - 8*u.addrSize)
	for {
		lo, hi := c.uint(u.addrSize), c.uint(u.addrSize)
		switch {
		case c.bad || lo == 0 && hi == 0:
			return
		case lo == highest:
			base = hi
		case hi > lo:
			add(base+lo, base+hi)
		}
	}
}

// Entries of .debug_rnglists (DWARF 5, 7.25).
const (
	rleEnd = iota
	rleBasex
	rleStartxEndx
	rleStartxLength
	rleOffsetPair
	rleBase
	rleStartEnd
	rleStartLength
)

// rangeList5 reads a list of .debug_rnglists.
func (u *unit) rangeList5(v value, add func(lo, hi uint64)) {
	off := v.u
	if v.form == formRnglistx {
		size := uint64(u.offSize())
		t := at(u.d.rnglists, u.rangeBase)
		if v.u > t.left()/size {
			return
		}
		t.skip(v.u * size)
		off = u.rangeBase + t.uint(int(size))
	}
	c := at(u.d.rnglists, off)
	base := u.low
	for !c.bad {
		var lo, hi uint64
		switch c.u8() {
		case rleBasex:
			base, _ = u.indexedAddr(c.uleb())
			continue
		case rleBase:
			base = c.uint(u.addrSize)
			continue
		case rleStartxEndx:
			lo, _ = u.indexedAddr(c.uleb())
			hi, _ = u.indexedAddr(c.uleb())
		case rleStartxLength:
			lo, _ = u.indexedAddr(c.uleb())
			hi = lo + c.uleb()
		case rleOffsetPair:
			lo = base + c.uleb()
			hi = base + c.uleb()
		case rleStartEnd:
			lo = c.uint(u.addrSize)
			hi = c.uint(u.addrSize)
		case rleStartLength:
			lo = c.uint(u.addrSize)
			hi = lo + c.uleb()
		default:
			return
		}
		if hi > lo && !c.bad {
			add(lo, hi)
		}
	}
}
