package symbol

// Tags, attributes and forms that this package looks at (DWARF 5, chapter 7.5).
const (
	tagCompileUnit  = 0x11
	tagSubprogram   = 0x2e
	tagInlined      = 0x1d
	tagPartialUnit  = 0x3c
	tagSkeletonUnit = 0x4a
)

const (
	atName        = 0x03
	atStmtList    = 0x10
	atLowPC       = 0x11
	atHighPC      = 0x12
	atCompDir     = 0x1b
	atOrigin      = 0x31
	atDeclFile    = 0x3a
	atDeclLine    = 0x3b
	atSpec        = 0x47
	atEntryPC     = 0x52
	atRanges      = 0x55
	atCallColumn  = 0x57
	atCallFile    = 0x58
	atCallLine    = 0x59
	atLinkage     = 0x6e
	atStrOffBase  = 0x72
	atAddrBase    = 0x73
	atRngBase     = 0x74
	atDWOName     = 0x76
	atMIPSLinkage = 0x2007
	atGNUDWOName  = 0x2130
	atGNURngBase  = 0x2132
	atGNUAddrBase = 0x2133
)

const (
	formAddr       = 0x01
	formBlock2     = 0x03
	formBlock4     = 0x04
	formData2      = 0x05
	formData4      = 0x06
	formData8      = 0x07
	formString     = 0x08
	formBlock      = 0x09
	formBlock1     = 0x0a
	formData1      = 0x0b
	formFlag       = 0x0c
	formSdata      = 0x0d
	formStrp       = 0x0e
	formUdata      = 0x0f
	formRefAddr    = 0x10
	formRef1       = 0x11
	formRef2       = 0x12
	formRef4       = 0x13
	formRef8       = 0x14
	formRefUdata   = 0x15
	formIndirect   = 0x16
	formSecOffset  = 0x17
	formExprloc    = 0x18
	formFlagHere   = 0x19
	formStrx       = 0x1a
	formAddrx      = 0x1b
	formRefSup4    = 0x1c
	formStrpSup    = 0x1d
	formData16     = 0x1e
	formLineStrp   = 0x1f
	formRefSig8    = 0x20
	formImplicit   = 0x21
	formLoclistx   = 0x22
	formRnglistx   = 0x23
	formRefSup8    = 0x24
	formStrx1      = 0x25
	formStrx2      = 0x26
	formStrx3      = 0x27
	formStrx4      = 0x28
	formAddrx1     = 0x29
	formAddrx2     = 0x2a
	formAddrx3     = 0x2b
	formAddrx4     = 0x2c
	formGNUAddrx   = 0x1f01
	formGNUStrx    = 0x1f02
	formGNURefAlt  = 0x1f20
	formGNUStrpAlt = 0x1f21
)

// How a form is stored.
const (
	sizeFixed  = iota // n bytes
	sizeULEB          // one ULEB128
	sizeSLEB          // one SLEB128
	sizeBlock         // a length of n bytes (0: ULEB128), then that many bytes
	sizeString        // zero-ended
	sizeOffset        // 4 or 8 bytes by the unit's format
	sizeAddr          // as an address
	sizeRef           // formRefAddr: an address in DWARF 2, else an offset
	sizeSpecial
)

type formSize struct {
	how uint8
	n   uint8
}

// formSizes tells how to read or skip every form.
var formSizes = map[uint64]formSize{
	formAddr: {sizeAddr, 0}, formBlock2: {sizeBlock, 2}, formBlock4: {sizeBlock, 4}, formBlock: {sizeBlock, 0}, formBlock1: {sizeBlock, 1},
	formExprloc: {sizeBlock, 0}, formData1: {sizeFixed, 1}, formData2: {sizeFixed, 2}, formData4: {sizeFixed, 4}, formData8: {sizeFixed, 8},
	formData16: {sizeFixed, 16}, formFlag: {sizeFixed, 1}, formFlagHere: {sizeFixed, 0},
	formImplicit: {sizeSpecial, 0}, formIndirect: {sizeSpecial, 0},
	formSdata: {sizeSLEB, 0}, formUdata: {sizeULEB, 0}, formString: {sizeString, 0}, formStrp: {sizeOffset, 0}, formLineStrp: {sizeOffset, 0},
	formStrpSup: {sizeOffset, 0}, formSecOffset: {sizeOffset, 0}, formRefAddr: {sizeRef, 0}, formRef1: {sizeFixed, 1},
	formRef2: {sizeFixed, 2},
	formRef4: {sizeFixed, 4}, formRef8: {sizeFixed, 8}, formRefUdata: {sizeULEB, 0}, formRefSig8: {sizeFixed, 8}, formRefSup4: {sizeFixed, 4},
	formRefSup8: {sizeFixed, 8}, formStrx: {sizeULEB, 0}, formStrx1: {sizeFixed, 1}, formStrx2: {sizeFixed, 2}, formStrx3: {sizeFixed, 3},
	formStrx4: {sizeFixed, 4}, formAddrx: {sizeULEB, 0}, formAddrx1: {sizeFixed, 1}, formAddrx2: {sizeFixed, 2}, formAddrx3: {sizeFixed, 3},
	formAddrx4: {sizeFixed, 4}, formLoclistx: {sizeULEB, 0}, formRnglistx: {sizeULEB, 0}, formGNUAddrx: {sizeULEB, 0},
	formGNUStrx:   {sizeULEB, 0},
	formGNURefAlt: {sizeOffset, 0}, formGNUStrpAlt: {sizeOffset, 0},
}

// attrSpec is an attribute in an abbreviation.
type attrSpec struct {
	attr, form uint64
	size       formSize
	implicit   uint64
	place      int // in die.vals, -1 if the attribute does not matter
}

// abbrev is the shape of an entry.
type abbrev struct {
	tag      uint64
	children bool
	attrs    []attrSpec
	keep     bool // the entry's attributes matter
	fixed    bool // all attributes have known sizes: bytes, offsets and addresses together
	bytes    uint64
	offsets  uint64
	addrs    uint64
}

// abbrevs is a table of abbreviations by code; most tables count from 1. It is read as far as it is
// asked for, and what is passed over on the way is not taken apart: of most units only the first
// entry is looked at, whose abbreviation compilers that sort by use put last.
type abbrevs struct {
	dense []shape
	rest  map[uint64]*shape
	left  cursor // what was not yet read
	whole bool
}

// shape is an abbreviation: where it stands, and what it says, nil until somebody asks.
type shape struct {
	at     uint64
	abbrev *abbrev
}

func (t *abbrevs) get(code uint64) *abbrev {
	for {
		if code-1 < uint64(len(t.dense)) {
			return t.read(&t.dense[code-1])
		}
		if s := t.rest[code]; s != nil {
			return t.read(s)
		}
		if t.whole {
			return nil
		}
		t.whole = !t.next()
	}
}

// newAbbrevs is the table at an offset of .debug_abbrev.
func newAbbrevs(section []byte, off uint64) *abbrevs { return &abbrevs{left: at(section, off)} }

// next passes over one more abbreviation; false at the table's end or at damage.
func (t *abbrevs) next() bool {
	c := &t.left
	code := c.uleb()
	if code == 0 || c.bad {
		return false
	}
	s := shape{at: c.off}
	if c.uleb(); !skipAttrs(c) {
		return false
	}
	if code == uint64(len(t.dense))+1 {
		t.dense = append(t.dense, s)
		return true
	}
	if t.rest == nil {
		t.rest = map[uint64]*shape{}
	}
	t.rest[code] = &shape{at: s.at}
	return true
}

// skipAttrs passes over an abbreviation behind its tag.
func skipAttrs(c *cursor) bool {
	c.u8()
	for !c.bad {
		attr, form := c.uleb(), c.uleb()
		if form == formImplicit {
			c.sleb()
		}
		if attr == 0 && form == 0 {
			break
		}
	}
	return !c.bad
}

// read is what an abbreviation says; nil if it has a form that is not known.
func (t *abbrevs) read(s *shape) *abbrev {
	if s.abbrev == nil {
		c := at(t.left.b, s.at)
		a := abbrev{tag: c.uleb(), children: c.u8() != 0}
		if !parseAttrs(&c, &a) {
			return nil
		}
		a.measure()
		s.abbrev = &a
	}
	return s.abbrev
}

func parseAttrs(c *cursor, a *abbrev) bool {
	for {
		s := attrSpec{attr: c.uleb(), form: c.uleb()}
		if s.form == formImplicit {
			s.implicit = uint64(c.sleb())
		}
		if c.bad {
			return false
		}
		if s.attr == 0 && s.form == 0 {
			return true
		}
		size, ok := formSizes[s.form]
		if !ok {
			return false
		}
		s.size, s.place = size, -1
		if k, ok := attrIndex[s.attr]; ok {
			s.place = k
		}
		a.attrs = append(a.attrs, s)
	}
}

// measure finds out how entries that do not matter can be skipped at once.
func (a *abbrev) measure() {
	switch a.tag {
	case tagSubprogram, tagInlined, tagCompileUnit, tagPartialUnit, tagSkeletonUnit:
		a.keep = true
	}
	a.fixed = true
	for _, s := range a.attrs {
		switch {
		case s.form == formImplicit:
		case s.size.how == sizeFixed:
			a.bytes += uint64(s.size.n)
		case s.size.how == sizeOffset:
			a.offsets++
		case s.size.how == sizeAddr:
			a.addrs++
		default:
			a.fixed = false
		}
	}
}
