package symbol

// value is an attribute's raw value: a number, an offset, an index, or the place of a string.
type value struct {
	form uint64 // 0 if the attribute is missing
	u    uint64
}

// Places of the attributes that matter in die.vals.
const (
	hasName = iota
	hasLinkage
	hasLow
	hasHigh
	hasRanges
	hasEntry
	hasOrigin
	hasSpec
	hasCallFile
	hasCallLine
	hasCallColumn
	hasDeclFile
	hasDeclLine
	hasStmtList
	hasCompDir
	hasDWOName
	hasStrBase
	hasAddrBase
	hasRangeBase
	hasCount
)

// attrIndex maps attributes to their places.
var attrIndex = map[uint64]int{
	atName: hasName, atLinkage: hasLinkage, atMIPSLinkage: hasLinkage, atLowPC: hasLow, atHighPC: hasHigh,
	atRanges: hasRanges, atEntryPC: hasEntry, atOrigin: hasOrigin, atSpec: hasSpec, atCallFile: hasCallFile, atCallLine: hasCallLine,
	atCallColumn: hasCallColumn, atDeclFile: hasDeclFile, atDeclLine: hasDeclLine, atStmtList: hasStmtList, atCompDir: hasCompDir,
	atDWOName: hasDWOName, atGNUDWOName: hasDWOName, atStrOffBase: hasStrBase, atAddrBase: hasAddrBase, atGNUAddrBase: hasAddrBase,
	atRngBase: hasRangeBase, atGNURngBase: hasRangeBase,
}

// die is one entry; vals holds the attributes of functions and units.
type die struct {
	off      uint64
	tag      uint64 // 0 ends a list of children
	children bool
	vals     [hasCount]value
}

// read reads the entry at the cursor. It returns false at the unit's end or at damage.
func (u *unit) read(c *cursor, e *die) bool {
	a, ok := u.open(c, e)
	if !ok || a == nil {
		return ok
	}
	if !a.keep && a.fixed {
		c.skip(a.bytes + a.offsets*uint64(u.offSize()) + a.addrs*uint64(u.addrSize))
		return !c.bad
	}
	if a.keep {
		e.vals = [hasCount]value{}
	}
	for i := range a.attrs {
		s := &a.attrs[i]
		if a.keep && s.place >= 0 {
			e.vals[s.place] = u.value(c, s)
		} else {
			u.skip(c, s)
		}
	}
	return !c.bad
}

// open reads the entry's code; a is nil for the end of a list.
func (u *unit) open(c *cursor, e *die) (a *abbrev, ok bool) {
	e.off = c.off
	if c.left() == 0 {
		return nil, false
	}
	code := c.uleb()
	if code == 0 {
		e.tag, e.children = 0, false
		return nil, !c.bad
	}
	if a = u.abbrevs.get(code); a == nil {
		c.bad = true
		return nil, false
	}
	e.tag, e.children = a.tag, a.children
	return a, true
}

// value reads an attribute.
func (u *unit) value(c *cursor, s *attrSpec) value {
	v := value{form: s.form}
	switch s.size.how {
	case sizeFixed:
		if s.size.n <= 8 {
			v.u = c.uint(int(s.size.n))
		} else {
			c.skip(uint64(s.size.n))
		}
	case sizeULEB:
		v.u = c.uleb()
	case sizeSLEB:
		v.u = uint64(c.sleb())
	case sizeOffset:
		v.u = c.uint(u.offSize())
	case sizeAddr:
		v.u = c.uint(u.addrSize)
	case sizeRef:
		if u.version == 2 {
			v.u = c.uint(u.addrSize)
		} else {
			v.u = c.uint(u.offSize())
		}
	case sizeString:
		v.u = c.off
		c.strBytes()
	case sizeSpecial:
		return u.special(c, s)
	default:
		u.skip(c, s)
	}
	return v
}

func (u *unit) special(c *cursor, s *attrSpec) value {
	if s.form == formImplicit {
		return value{formImplicit, s.implicit}
	}
	form := c.uleb() // formIndirect
	size, ok := formSizes[form]
	if !ok || size.how == sizeSpecial {
		c.bad = true
		return value{}
	}
	return u.value(c, &attrSpec{attr: s.attr, form: form, size: size})
}

func (u *unit) skip(c *cursor, s *attrSpec) {
	if s.size.how != sizeBlock {
		u.value(c, s)
		return
	}
	if s.size.n == 0 {
		c.skip(c.uleb())
	} else {
		c.skip(c.uint(int(s.size.n)))
	}
}

// string resolves a string attribute.
func (u *unit) string(v value) string {
	d := u.d
	switch v.form {
	case formString:
		c := at(d.info, v.u)
		return c.str()
	case formStrp:
		c := at(d.str, v.u)
		return c.str()
	case formLineStrp:
		c := at(d.lineStr, v.u)
		return c.str()
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGNUStrx:
		return u.indexedString(v.u)
	case formGNUStrpAlt, formStrpSup:
		if d.alt != nil {
			c := at(d.alt.str, v.u)
			return c.str()
		}
	}
	return ""
}

func (u *unit) indexedString(i uint64) string {
	size := uint64(u.offSize())
	c := at(u.d.strOffsets, u.strBase)
	if i > c.left()/size {
		return ""
	}
	c.skip(i * size)
	s := at(u.d.str, c.uint(int(size)))
	return s.str()
}

// address resolves an address attribute.
func (u *unit) address(v value) (uint64, bool) {
	switch v.form {
	case formAddr:
		return v.u, true
	case formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGNUAddrx:
		return u.indexedAddr(v.u)
	}
	return 0, false
}

func (u *unit) indexedAddr(i uint64) (uint64, bool) {
	c := at(u.addr, u.addrBase)
	if i > c.left()/uint64(u.addrSize) {
		return 0, false
	}
	c.skip(i * uint64(u.addrSize))
	a := c.uint(u.addrSize)
	return a, !c.bad
}

// entry returns the entry that a reference names, and its unit; nil if there is none.
func (u *unit) entry(v value, e *die) *unit {
	d, off := u.d, v.u
	switch v.form {
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		off += u.off
	case formRefAddr:
	case formGNURefAlt, formRefSup4, formRefSup8:
		d = d.alt
	default:
		return nil
	}
	if d == nil {
		return nil
	}
	to := d.unitAt(off)
	if to == nil {
		return nil
	}
	c := at(d.info[:to.end], off)
	if !to.read(&c, e) || e.tag == 0 {
		return nil
	}
	return to
}
