package x86

// memory decodes the memory operand that ModRM names: SIB, displacement, base and
// index (Intel SDM vol. 2A, tables 2-2, 2-3 and 2-13).
func (d *decoder) memory() bool {
	in := d.inst
	if in.ModRM >= 0xc0 || d.row.attr&attrControl != 0 {
		return true
	}
	in.HasMem = true
	m := &in.Mem
	m.Scale = 1
	m.Seg = d.seg
	m.Addr32 = d.addr32
	mod, rm := in.ModRM>>6, in.ModRM&7
	dispLen := [3]uint8{0, 1, 4}[mod]
	switch {
	case rm == 4:
		if !d.sib(mod, &dispLen) {
			return false
		}
	case mod == 0 && rm == 5:
		m.Base, dispLen = RIP, 4
	default:
		m.Base = Reg(rm | d.rex&rexB<<3)
	}
	if !d.displacement(dispLen) {
		return false
	}
	in.Reads = in.Reads.With(m.Base)
	if !m.VSIB {
		in.Reads = in.Reads.With(m.Index)
	}
	return d.row.attr&attrVSIB == 0 || m.VSIB
}

func (d *decoder) sib(mod uint8, dispLen *uint8) bool {
	s, ok := d.next()
	if !ok {
		return false
	}
	m := &d.inst.Mem
	index := s>>3&7 | d.rex&rexX<<2
	m.Scale = 1 << (s >> 6)
	switch {
	case d.row.attr&attrVSIB != 0:
		m.VSIB = true
		m.Index = Reg(index)
		if d.class == classEVEX {
			m.Index = Reg(index | d.vvvv&16)
		}
	case index != 4:
		m.Index = Reg(index)
	default:
		m.Scale = 1
	}
	if s&7 == 5 && mod == 0 {
		*dispLen = 4
		return true
	}
	m.Base = Reg(s&7 | d.rex&rexB<<3)
	return true
}

func (d *decoder) displacement(n uint8) bool {
	if n == 0 {
		return true
	}
	off := d.pos
	v, ok := d.signed(int(n))
	if !ok {
		return false
	}
	if n == 1 && d.class == classEVEX {
		v *= int64(d.dispScale())
	}
	d.inst.DispOff, d.inst.DispLen = uint8(off), n
	d.inst.Mem.Disp = int32(v)
	return true
}

// dispScale is N of EVEX disp8*N: the bytes of the memory operand, and for
// compress, expand and prefetch the element (Intel SDM vol. 2A, tables 2-36 and 2-37).
func (d *decoder) dispScale() uint16 {
	switch {
	case d.row.attr&attrCompress != 0 || d.row.attr&attrVSIB != 0:
		return d.byW()
	case d.row.attr&attrCompressBW != 0:
		return d.byW() / 4
	}
	for i := range d.row.ops[:d.row.nops] {
		switch o := &d.row.ops[i]; o.kind {
		case 'M', 'W', 'E', 'F':
			return max(1, d.memBytes(o))
		}
	}
	return 1
}

// signed reads a little-endian signed number of n bytes.
func (d *decoder) signed(n int) (int64, bool) {
	if d.pos+n > len(d.code) {
		d.pos = len(d.code)
		d.short = true
		return 0, false
	}
	v := uint64(0)
	for i := range n {
		v |= uint64(d.code[d.pos+i]) << (8 * i)
	}
	d.pos += n
	shift := 64 - 8*uint(n)
	return int64(v<<shift) >> shift, true
}

// immediates reads immediates, branch displacements and absolute addresses.
func (d *decoder) immediates() bool {
	for i := range d.row.ops[:d.row.nops] {
		o := &d.row.ops[i]
		n := 0
		switch o.kind {
		case 'I':
			n = int(d.bytes(o.size))
		case 'J':
			n = d.nearBytes(o)
		case 'L':
			n = 1
		case 'O':
			n = 8
			if d.addr32 {
				n = 4
			}
		default:
			continue
		}
		if !d.immediate(o, n) {
			return false
		}
	}
	if d.row.attr&(attrShiftImm|attrBits) != 0 {
		d.counts()
	}
	return true
}

func (d *decoder) immediate(o *operand, n int) bool {
	in := d.inst
	off := d.pos
	v, ok := d.signed(n)
	if !ok {
		return false
	}
	if o.kind == 'J' {
		in.Rel = v
	}
	if in.ImmLen == 0 {
		in.ImmOff, in.Imm = uint8(off), v
	}
	if o.kind == 'L' {
		in.VecReads |= 1 << (v >> 4 & 15)
	}
	in.ImmLen += uint8(n)
	return true
}

// counts treats shift counts: by none, flags are kept; and bit offsets in a
// register, which reach beyond the memory operand.
func (d *decoder) counts() {
	in := d.inst
	if d.row.attr&attrBits != 0 {
		in.BitString = in.HasMem
		return
	}
	mask := int64(31)
	if d.rex&rexW != 0 {
		mask = 63
	}
	if in.Imm&mask == 0 {
		in.FlagsWrite = 0
	}
}
