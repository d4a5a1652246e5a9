package symbol

import "sort"

// sections holds the debug sections of one file.
type sections struct {
	info, abbrev, str, lineStr, strOffsets, addr, ranges, rnglists, line []byte
}

// dwarf is the debug information of one file.
type dwarf struct {
	sections
	split   bool   // a .dwo file
	alt     *dwarf // shared information (dwz), nil if there is none
	units   []*unit
	abbrevs map[uint64]*abbrevs
}

// unit is a compile unit, partial unit or its like.
type unit struct {
	d        *dwarf
	off, end uint64 // in info
	first    uint64 // offset of the first entry
	version  int
	is64     bool
	addrSize int
	abbrevs  *abbrevs
	root     die
	// Bases of indirect forms; for a split unit partly those of its skeleton.
	addr                         []byte
	addrBase, strBase, rangeBase uint64
	low                          uint64
}

// parseUnits finds the units, and reads their first entries. Damage ends the list.
func (d *dwarf) parseUnits() {
	d.abbrevs = map[uint64]*abbrevs{}
	for off := uint64(0); off < uint64(len(d.info)); {
		c := at(d.info, off)
		n, is64 := c.length()
		if c.bad || n > c.left() {
			return
		}
		u := &unit{d: d, off: off, end: c.off + n, is64: is64, addr: d.addr}
		off = u.end
		if n > 0 && u.header(&c) {
			d.units = append(d.units, u)
			u.readRoot()
		}
	}
}

func (u *unit) header(c *cursor) bool {
	c.b = c.b[:u.end]
	u.version = int(c.u16())
	kind := uint8(1)
	var abbrev uint64
	if u.version >= 5 {
		kind, u.addrSize = c.u8(), int(c.u8())
		abbrev = c.uint(u.offSize())
	} else {
		abbrev, u.addrSize = c.uint(u.offSize()), int(c.u8())
	}
	const skeleton, splitCompile, typeUnit, splitType = 4, 5, 2, 6
	switch kind {
	case skeleton, splitCompile:
		c.skip(8)
	case typeUnit, splitType:
		return false // types do not matter
	}
	u.first = c.off
	if c.bad || u.version < 2 || u.version > 5 || u.addrSize != 8 && u.addrSize != 4 {
		return false
	}
	t := u.d.abbrevs[abbrev]
	if t == nil {
		t = newAbbrevs(u.d.abbrev, abbrev)
		u.d.abbrevs[abbrev] = t
	}
	u.abbrevs = t
	return true
}

func (u *unit) offSize() int {
	if u.is64 {
		return 8
	}
	return 4
}

// readRoot reads the unit's own entry and the bases that stand in it.
func (u *unit) readRoot() {
	if u.d.split { // a split unit's tables have one contribution, after a header
		u.strBase, u.rangeBase = u.headerSize(8), u.headerSize(12)
	}
	c := at(u.d.info[:u.end], u.first)
	u.read(&c, &u.root)
	r := &u.root
	for _, b := range []struct {
		attr int
		to   *uint64
	}{{hasStrBase, &u.strBase}, {hasAddrBase, &u.addrBase}, {hasRangeBase, &u.rangeBase}} {
		if v := r.vals[b.attr]; v.form != 0 {
			*b.to = v.u
		}
	}
	u.low, _ = u.address(r.vals[hasLow])
}

// headerSize is the size of a DWARF 5 table's header; older tables have none.
func (u *unit) headerSize(n uint64) uint64 {
	switch {
	case u.version < 5:
		return 0
	case u.is64:
		return n + 8
	}
	return n
}

// unitAt returns the unit that holds an offset of info.
func (d *dwarf) unitAt(off uint64) *unit {
	i := sort.Search(len(d.units), func(i int) bool { return d.units[i].end > off })
	if i < len(d.units) && d.units[i].first <= off {
		return d.units[i]
	}
	return nil
}
