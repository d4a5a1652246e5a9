package x86

// operandBytes is the operand size in bytes (Intel SDM vol. 1, table 3-4).
func (d *decoder) operandBytes() uint16 {
	switch {
	case d.rex&rexW != 0 || d.row.attr&attrForce64 != 0:
		return 8
	case d.opsize16:
		return 2
	case d.row.attr&attrDef64 != 0:
		return 8
	}
	return 4
}

// bytes is the value of a size.
func (d *decoder) bytes(s size) uint16 {
	if s < sizeSymbolic {
		return uint16(s)
	}
	switch s {
	case sizeV:
		return d.operandBytes()
	case sizeZ:
		return min(d.operandBytes(), 4)
	case sizeY:
		return d.byW()
	case sizeX:
		return d.vectorBytes()
	case sizeHalf:
		return d.vectorBytes() / 2
	case sizeFourth:
		return d.vectorBytes() / 4
	case sizeEighth:
		return d.vectorBytes() / 8
	case sizeDup:
		if v := d.vectorBytes(); v > 16 {
			return v
		}
		return 8
	case sizeFar:
		return 2 + d.operandBytes()
	}
	return 0
}

func (d *decoder) byW() uint16 {
	if d.rex&rexW != 0 {
		return 8
	}
	return 4
}

// nearBytes is the size of a near branch displacement. 66 makes it 16 bit, and cuts
// the target to 16 bit, on AMD's processors (AMD APM vol. 3, jmp near), and does
// nothing on Intel's: such a branch is decoded as AMD does, and left untranslated.
func (d *decoder) nearBytes(o *operand) int {
	if o.size == sizeZ && d.truncated() {
		return 2
	}
	return min(int(d.bytes(o.size)), 4)
}

// truncated reports whether an operand-size prefix cuts the branch target.
func (d *decoder) truncated() bool {
	return d.opsize16 && d.rex&rexW == 0
}

// effects copies what a row says of every instruction that it stands for.
func (d *decoder) effects() {
	in, r := d.inst, d.row
	in.Name = r.name
	in.Reads, in.Writes = r.reads, r.writes
	in.FlagsRead, in.FlagsWrite = r.flagsRead, r.flagsWrite
	in.Branch, in.Special = r.branch, r.special
	in.ImplicitRead = r.attr&attrImpRead != 0
	in.ImplicitWrite = r.attr&attrImpWrite != 0
	in.CondWrite = r.attr&attrCondWrite != 0
	if r.attr&attrCond != 0 {
		in.Cond = in.Opcode & 0xf
		in.FlagsRead |= condFlags(in.Cond)
	}
	d.state()
}

// state sets which register state the instruction touches. MMX registers are
// those of the x87 unit, and each vector extension contains the one before it.
func (d *decoder) state() {
	in, a := d.inst, d.row.attr
	in.X87 = a&(attrX87|attrMMX|attrState) != 0
	in.SSE = a&(attrSSE|attrAVX|attrState) != 0
	in.AVX = a&(attrAVX|attrState) != 0 || a&attrSSE != 0 && in.Enc != Legacy
	in.AVX512 = in.Enc == EVEX || a&attrState != 0 || d.hasMask()
}

func (d *decoder) hasMask() bool {
	for _, o := range d.row.ops[:d.row.nops] {
		if o.kind == 'k' || o.kind == 'j' {
			return true
		}
	}
	return false
}

// condFlags are the flags that a condition code tests (Intel SDM vol. 1, app. B).
func condFlags(cc uint8) Flags {
	return [8]Flags{OF, CF, ZF, CF | ZF, SF, PF, SF | OF, ZF | SF | OF}[cc>>1&7]
}

// operands adds the registers that the operands name, and gives the memory
// operand its size and direction.
func (d *decoder) operands() {
	for i := range d.row.ops[:d.row.nops] {
		o := &d.row.ops[i]
		switch o.kind {
		case 'G':
			d.use(o, d.inst.ModRM>>3&7|d.rex&rexR<<1)
		case 'B':
			d.use(o, d.vvvv&15)
		case 'Z':
			d.use(o, d.inst.Opcode&7|d.rex&rexB<<3)
		case 'A':
			d.use(o, 0)
		case 'V':
			d.vec(o, d.inst.ModRM>>3&7|d.rex&rexR<<1|d.regHi)
		case 'H':
			if d.class != classLegacy {
				d.vec(o, d.vvvv)
			}
		case 'U':
			d.vec(o, d.vecRM())
		case 'E', 'R', 'F':
			if !d.inst.HasMem {
				d.use(o, d.inst.ModRM&7|d.rex&rexB<<3)
				continue
			}
			d.access(o)
		case 'W':
			if !d.inst.HasMem {
				d.vec(o, d.vecRM())
			}
			d.access(o)
		case 'M', 'X', 'Q', 'j':
			d.access(o)
		}
	}
}

// use notes a general register as read or written. Writing 8 or 16 bits keeps
// the rest, and is a read too.
func (d *decoder) use(o *operand, n uint8) {
	bytes := d.bytes(o.size)
	if o.kind == 'F' {
		bytes = 4
	}
	if bytes == 1 && d.inst.Rex == 0 && d.class == classLegacy && n >= 4 && n < 8 && o.kind != 'A' {
		n -= 4 // ah, ch, dh, bh
	}
	in, r := d.inst, Reg(n)
	if o.access&accRead != 0 || o.access&accWrite != 0 && bytes < 4 {
		in.Reads = in.Reads.With(r)
	}
	if o.access&accWrite != 0 {
		in.Writes = in.Writes.With(r)
	}
}

func (d *decoder) vecRM() uint8 { return d.inst.ModRM&7 | d.rex&rexB<<3 | d.rmHi }

// vec notes a vector register as read or written. Legacy SSE instructions leave the upper part
// alone.
func (d *decoder) vec(o *operand, n uint8) {
	bit := uint32(1) << (n & 31)
	if o.access&accRead != 0 {
		d.inst.VecReads |= bit
	}
	if o.access&accWrite != 0 {
		d.inst.VecWrites |= bit
	}
}

// access sets size and direction of the memory operand.
func (d *decoder) access(o *operand) {
	in := d.inst
	if !in.HasMem {
		return
	}
	in.Mem.Bytes = d.memBytes(o)
	in.Mem.Read = o.access&accRead != 0
	in.Mem.Write = o.access&accWrite != 0
}

func (d *decoder) memBytes(o *operand) uint16 {
	if d.evexB && d.row.bcast != 0 {
		if d.row.bcast == bcastByW {
			return d.byW()
		}
		return uint16(d.row.bcast)
	}
	n := d.bytes(o.size)
	if d.opsize16 && d.rex&rexW == 0 && d.row.attr&attrX87 != 0 && (n == 28 || n == 108) {
		n -= 14 // the 16-bit x87 environment
	}
	return n
}
