package x86

// vector reads a VEX, EVEX or XOP prefix, of which b is the first byte, and the
// opcode (Intel SDM vol. 2A, 2.3.5 and 2.7.1; AMD APM vol. 4, 1.1.2). With a legacy
// prefix that it replaces the instruction is invalid.
func (d *decoder) vector(b byte) bool {
	if d.opsize16 || d.rep != 0 || d.lock || d.inst.Rex != 0 {
		return false
	}
	ok := false
	switch b {
	case 0xc5:
		ok = d.vex2()
	case 0xc4:
		ok = d.vex3(classVEX, VEX)
	case 0x8f:
		ok = d.vex3(classXOP, XOP)
	case 0x62:
		ok = d.evex()
	}
	if !ok {
		return false
	}
	op, ok := d.next()
	d.setOpcode(op)
	return ok
}

func (d *decoder) vex2() bool {
	p, ok := d.next()
	if !ok {
		return false
	}
	d.class, d.inst.Enc, d.opmap = classVEX, VEX, 1
	if p&0x80 == 0 {
		d.rex = rexR
	}
	d.vexFields(p)
	return true
}

func (d *decoder) vex3(class int, enc Encoding) bool {
	p, ok1 := d.next()
	q, ok2 := d.next()
	if !ok1 || !ok2 {
		return false
	}
	d.class, d.inst.Enc, d.opmap = class, enc, int(p&0x1f)
	d.rex = ^p >> 5 & 7 // R X B stand as in REX
	if q&0x80 != 0 {
		d.rex |= rexW
	}
	d.vexFields(q)
	return d.opmap < numMaps
}

// vexFields sets vvvv, L and pp from the last byte of the prefix.
func (d *decoder) vexFields(p byte) {
	d.vvvv = ^p >> 3 & 0xf
	d.vl = p >> 2 & 1
	d.pp = int(p & 3)
}

func (d *decoder) evex() bool {
	p0, _ := d.next()
	p1, _ := d.next()
	p2, ok := d.next()
	if !ok || p0&8 != 0 || p1&4 == 0 {
		return false
	}
	d.class, d.inst.Enc, d.opmap = classEVEX, EVEX, int(p0&7)
	d.rex = ^p0 >> 5 & 7
	if p1&0x80 != 0 {
		d.rex |= rexW
	}
	d.regHi = ^p0 & 0x10
	if d.rex&rexX != 0 {
		d.rmHi = 16
	}
	d.vvvv = ^p1>>3&0xf | ^p2<<1&0x10
	d.pp = int(p1 & 3)
	d.vl = p2 >> 5 & 3
	d.evexB = p2&0x10 != 0
	d.merging = p2&7 != 0 && p2&0x80 == 0
	return true
}

// vectorBytes is the vector length. With EVEX.b and no memory, L'L is the
// rounding mode and the length 64.
func (d *decoder) vectorBytes() uint16 {
	if d.evexB && d.inst.ModRM >= 0xc0 {
		return 64
	}
	return 16 << (d.vl & 3)
}

// vectorEffects adds the vector registers that no ModRM or vvvv names.
func (d *decoder) vectorEffects() {
	in, a := d.inst, d.row.attr
	if a&attrXMM0Read != 0 {
		in.VecReads |= 1
	}
	if a&attrXMM0Write != 0 {
		in.VecWrites |= 1
	}
	if a&(attrAllXMM|attrState) != 0 {
		in.VecReads, in.VecWrites = ^uint32(0), ^uint32(0)
	}
	if in.Mem.VSIB {
		in.VecReads |= 1 << (in.Mem.Index & 31)
	}
	if d.merging {
		in.VecReads |= in.VecWrites
	}
}
