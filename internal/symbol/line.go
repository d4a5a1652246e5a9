package symbol

import (
	"cmp"
	"path"
	"slices"
	"sort"
)

// lineRow is one row of a line table.
type lineRow struct {
	addr   uint64
	file   int32
	line   int32
	column int32
}

// lineTable holds the rows of a unit, in sequences.
type lineTable struct {
	files []string // by file number
	seqs  spans    // id: index into rows
	rows  [][]lineRow
}

// lineHeader is what a line program needs to know.
type lineHeader struct {
	version, addrSize     int
	offSize               int
	minInst, maxOps       uint64
	lineBase              int64
	lineRange, opcodeBase uint64
	lengths               []uint8
	dirs                  []string
}

// parseLines reads the line table at an offset; valid says which addresses are code. A damaged
// table gives what can be read.
func (u *unit) parseLines(off uint64, compDir string, valid func(uint64) bool) *lineTable {
	t := &lineTable{}
	c := at(u.d.line, off)
	n, is64 := c.length()
	if c.bad {
		return t
	}
	h := lineHeader{addrSize: u.addrSize, offSize: 4}
	if is64 {
		h.offSize = 8
	}
	c.b = c.b[:c.off+min(n, c.left())]
	if !h.read(&c, u, compDir, t) {
		return t
	}
	p := &lineProgram{h: &h, c: c, valid: valid}
	p.run()
	t.rows = p.rows
	t.seqs = newSpans(p.seqs)
	return t
}

// read reads the header and leaves the cursor at the program.
func (h *lineHeader) read(c *cursor, u *unit, compDir string, t *lineTable) bool {
	h.version = int(c.u16())
	if h.version < 2 || h.version > 5 {
		return false
	}
	if h.version >= 5 {
		h.addrSize = int(c.u8())
		c.u8() // segment selectors
	}
	n := c.uint(h.offSize)
	program := c.off + min(n, c.left())
	h.minInst, h.maxOps = uint64(c.u8()), 1
	if h.version >= 4 {
		h.maxOps = max(1, uint64(c.u8()))
	}
	c.u8() // default of is_stmt
	h.lineBase, h.lineRange, h.opcodeBase = int64(int8(c.u8())), uint64(c.u8()), uint64(c.u8())
	if h.lineRange == 0 || h.opcodeBase == 0 || h.addrSize != 4 && h.addrSize != 8 {
		return false
	}
	h.lengths = c.bytes(h.opcodeBase - 1)
	if h.version >= 5 {
		h.tables5(c, u, compDir, t)
	} else {
		h.tables(c, compDir, t)
	}
	c.off, c.bad = program, false
	return true
}

// tables reads directories and files of DWARF 2 to 4; both count from 1.
func (h *lineHeader) tables(c *cursor, compDir string, t *lineTable) {
	h.dirs = []string{compDir}
	for {
		d := c.str()
		if d == "" {
			break
		}
		h.dirs = append(h.dirs, join(compDir, d))
	}
	t.files = []string{""}
	for {
		name := c.str()
		if name == "" {
			return
		}
		dir := c.uleb()
		c.uleb()
		c.uleb()
		t.files = append(t.files, h.file(dir, name))
	}
}

// file joins a file's name with its directory.
func (h *lineHeader) file(dir uint64, name string) string {
	if dir < uint64(len(h.dirs)) {
		return join(h.dirs[dir], name)
	}
	return name
}

// join joins paths without cleaning them, as the compiler wrote them.
func join(dir, name string) string {
	if dir == "" || path.IsAbs(name) {
		return name
	}
	if dir[len(dir)-1] == '/' {
		return dir + name
	}
	return dir + "/" + name
}

// tables5 reads directories and files of DWARF 5, which describe their own shape.
func (h *lineHeader) tables5(c *cursor, u *unit, compDir string, t *lineTable) {
	h.entries5(c, u, func(name string, _ uint64) {
		switch {
		case len(h.dirs) > 0:
			name = join(h.dirs[0], name)
		default:
			name = join(compDir, name)
		}
		h.dirs = append(h.dirs, name)
	})
	h.entries5(c, u, func(name string, dir uint64) { t.files = append(t.files, h.file(dir, name)) })
}

// entries5 reads one table: its formats, then its entries.
func (h *lineHeader) entries5(c *cursor, u *unit, add func(name string, dir uint64)) {
	const lnctPath, lnctDir = 1, 2
	formats := make([]attrSpec, c.u8())
	for i := range formats {
		formats[i] = attrSpec{attr: c.uleb(), form: c.uleb()}
		size, ok := formSizes[formats[i].form]
		if !ok || size.how == sizeSpecial {
			c.bad = true
		}
		formats[i].size = size
	}
	lu := &unit{d: u.d, is64: h.offSize == 8, addrSize: h.addrSize, version: 5, strBase: u.strBase}
	for n := c.uleb(); n > 0 && !c.bad && c.left() > 0 && len(formats) > 0; n-- {
		var name string
		var dir uint64
		for i := range formats {
			v := lu.value(c, &formats[i])
			switch formats[i].attr {
			case lnctPath:
				name = lu.lineString(v, c.b)
			case lnctDir:
				dir = v.u
			}
		}
		add(name, dir)
	}
}

// lineString is string for strings that stand in the line section itself.
func (u *unit) lineString(v value, line []byte) string {
	if v.form == formString {
		c := at(line, v.u)
		return c.str()
	}
	return u.string(v)
}

// lineProgram runs a line number program (DWARF 5, 6.2).
type lineProgram struct {
	h     *lineHeader
	c     cursor
	valid func(uint64) bool
	seqs  []span
	rows  [][]lineRow
	cur   []lineRow
	reg   lineRow
	line  int64
	op    uint64
}

// Standard and extended opcodes.
const (
	lnsCopy = iota + 1
	lnsAdvancePC
	lnsAdvanceLine
	lnsSetFile
	lnsSetColumn
	lnsNegateStmt
	lnsBasicBlock
	lnsConstAddPC
	lnsFixedAdvancePC
)

const (
	lneEndSequence = 1
	lneSetAddress  = 2
)

func (p *lineProgram) run() {
	p.reset()
	for p.c.left() > 0 {
		op := uint64(p.c.u8())
		switch {
		case op >= p.h.opcodeBase:
			adj := op - p.h.opcodeBase
			p.advance(adj / p.h.lineRange)
			p.line += p.h.lineBase + int64(adj%p.h.lineRange)
			p.emit()
		case op == 0:
			p.extended()
		default:
			p.standard(op)
		}
	}
}

func (p *lineProgram) reset() { p.reg, p.line, p.op, p.cur = lineRow{file: 1}, 1, 0, nil }

func (p *lineProgram) advance(n uint64) {
	if p.h.maxOps == 1 {
		p.reg.addr += n * p.h.minInst
		return
	}
	p.op += n
	p.reg.addr += p.h.minInst * (p.op / p.h.maxOps)
	p.op %= p.h.maxOps
}

func (p *lineProgram) emit() {
	r := p.reg
	r.line = int32(max(0, min(p.line, 1<<31-1)))
	p.cur = append(p.cur, r)
}

func (p *lineProgram) standard(op uint64) {
	switch op {
	case lnsCopy:
		p.emit()
	case lnsAdvancePC:
		p.advance(p.c.uleb())
	case lnsAdvanceLine:
		p.line += p.c.sleb()
	case lnsSetFile:
		p.reg.file = int32(min(p.c.uleb(), 1<<31-1))
	case lnsSetColumn:
		p.reg.column = int32(min(p.c.uleb(), 1<<31-1))
	case lnsConstAddPC:
		p.advance((255 - p.h.opcodeBase) / p.h.lineRange)
	case lnsFixedAdvancePC:
		p.reg.addr += uint64(p.c.u16())
		p.op = 0
	default:
		if op > uint64(len(p.h.lengths)) { // the header is cut short
			p.c.bytes(uint64(p.c.left()))
			return
		}
		for range p.h.lengths[op-1] {
			p.c.uleb()
		}
	}
}

func (p *lineProgram) extended() {
	n := p.c.uleb()
	b := p.c.bytes(n)
	if len(b) == 0 {
		return
	}
	switch b[0] {
	case lneEndSequence:
		p.endSequence()
		p.reset()
	case lneSetAddress:
		a := at(b, 1)
		p.reg.addr, p.op = a.uint(min(len(b)-1, 8)), 0
	}
}

// endSequence keeps a sequence that lies in code; those of functions that the linker dropped do
// not.
func (p *lineProgram) endSequence() {
	if len(p.cur) == 0 {
		return
	}
	slices.SortStableFunc(p.cur, func(a, b lineRow) int { return cmp.Compare(a.addr, b.addr) })
	lo, hi := p.cur[0].addr, p.reg.addr
	if hi > lo && p.valid(lo) {
		p.seqs = append(p.seqs, span{lo, hi, int32(len(p.rows))})
		p.rows = append(p.rows, p.cur)
	}
}

// find returns the row of an address. Line 0 means that the compiler names no
// line; then the nearest row before that has one counts.
func (t *lineTable) find(pc uint64) (lineRow, bool) {
	id := t.seqs.find(pc)
	if id < 0 {
		return lineRow{}, false
	}
	rows := t.rows[id]
	i := sort.Search(len(rows), func(i int) bool { return rows[i].addr > pc }) - 1
	for i > 0 && rows[i].line == 0 {
		i--
	}
	return rows[i], i >= 0
}

// name returns the path of a file number.
func (t *lineTable) name(file uint64) string {
	if file < uint64(len(t.files)) {
		return t.files[file]
	}
	return ""
}
