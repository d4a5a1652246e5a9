package x86

import "errors"

// The errors of Decode.
var (
	ErrInvalid   = errors.New("x86: no instruction in 64-bit mode")
	ErrTruncated = errors.New("x86: code ends inside an instruction")
)

// MaxLen is the longest instruction (Intel SDM vol. 2A, 2.3.11).
const MaxLen = 15

// Decode decodes the instruction at the start of code into inst. It returns
// ErrInvalid for bytes that are no instruction in 64-bit mode, and ErrTruncated for
// code that ends too early. It never panics, and allocates nothing after the
// first call.
func Decode(code []byte, inst *Inst) error {
	*inst = Inst{Mem: Mem{Base: NoReg, Index: NoReg}}
	d := decoder{code: code, inst: inst}
	if len(code) > MaxLen {
		d.code = code[:MaxLen]
	}
	if !d.run() {
		if d.short && len(code) < MaxLen {
			return ErrTruncated
		}
		return ErrInvalid
	}
	return nil
}

// decoder is the state of one decoding. Its steps return false for an error;
// short tells code that ends too early from code that is invalid.
type decoder struct {
	code  []byte
	inst  *Inst
	row   *row
	pos   int
	short bool

	class, opmap, pp int
	opsize16         bool
	addr32           bool
	lock             bool
	rep              uint8
	seg, segOff      uint8
	rex              uint8 // W R X B of whatever encoding, as in REX
	regHi, rmHi      uint8 // EVEX R' and X: 16 if set
	vvvv             uint8 // with V'
	vl               uint8 // L'L
	evexB            bool
	merging          bool // EVEX mask without zeroing: keeps part of the destination
}

const (
	rexB = 1 << iota
	rexX
	rexR
	rexW
)

func (d *decoder) next() (b byte, ok bool) {
	if d.pos >= len(d.code) {
		d.short = true
		return 0, false
	}
	b = d.code[d.pos]
	d.pos++
	return b, true
}

func (d *decoder) run() bool {
	if !d.prefixes() || !d.opcode() || !d.findRow() {
		return false
	}
	d.effects()
	if d.inst.HasModRM && !d.memory() {
		return false
	}
	d.operands()
	d.vectorEffects()
	if !d.immediates() {
		return false
	}
	d.finish()
	return true
}

// prefixes reads legacy prefixes and REX (Intel SDM vol. 2A, 2.1.1 and 2.2.1).
// A REX that does not stand before the opcode is without effect.
func (d *decoder) prefixes() bool {
	rex := uint8(0)
	for {
		b, ok := d.next()
		if !ok {
			return false
		}
		if b&0xf0 == 0x40 {
			rex = b
			continue
		}
		if !d.prefix(b) {
			d.pos--
			break
		}
		rex = 0
	}
	d.rex = rex & 0xf
	d.inst.Rex = rex
	d.inst.SegOff = d.segOff
	return true
}

func (d *decoder) prefix(b byte) bool {
	switch b {
	case 0x66:
		d.opsize16 = true
	case 0x67:
		d.addr32 = true
	case 0xf0:
		d.lock = true
	case 0xf2, 0xf3:
		d.rep = b
	case 0x64, 0x65:
		d.seg, d.segOff = b, uint8(d.pos)
	case 0x26, 0x2e, 0x36, 0x3e: // no effect in 64-bit mode
	default:
		return false
	}
	return true
}

// opcode reads the escape bytes or the VEX, EVEX, XOP prefix, and the opcode.
func (d *decoder) opcode() bool {
	b, ok := d.next()
	if !ok {
		return false
	}
	switch b {
	case 0xc4, 0xc5, 0x62:
		return d.vector(b)
	case 0x8f:
		if d.pos < len(d.code) && d.code[d.pos]&0x38 != 0 {
			return d.vector(b)
		}
	}
	if d.opsize16 {
		d.pp = 1
	}
	switch d.rep {
	case 0xf3:
		d.pp = 2
	case 0xf2:
		d.pp = 3
	}
	return d.escape(b)
}

func (d *decoder) escape(b byte) bool {
	ok := true
	if b == 0x0f {
		d.opmap = 1
		if b, ok = d.next(); !ok {
			return false
		}
		switch b {
		case 0x38:
			d.opmap = 2
			b, ok = d.next()
		case 0x3a:
			d.opmap = 3
			b, ok = d.next()
		}
	}
	d.setOpcode(b)
	return ok
}

func (d *decoder) setOpcode(b byte) {
	d.inst.Opcode = b
	d.inst.OpcodeOff = uint8(d.pos - 1)
	d.inst.Map = uint8(d.opmap)
}

// findRow reads ModRM, if the opcode has one, and selects the table row.
func (d *decoder) findRow() bool {
	op := int(d.inst.Opcode)
	ix := decodeIndex()
	has, known := ix.hasModRM(d.class, d.opmap, d.pp, op)
	if !known {
		return false
	}
	sel := uint16(d.vl) << selL
	if d.rex&rexW != 0 {
		sel |= 1 << selW
	}
	if d.rex&rexB != 0 {
		sel |= 1 << selB
	}
	if has {
		m, ok := d.next()
		if !ok {
			return false
		}
		d.inst.HasModRM = true
		d.inst.ModRM = m
		d.inst.ModRMOff = uint8(d.pos - 1)
		sel |= uint16(m>>3&7)<<selReg | uint16(m&7)<<selRM
		if m >= 0xc0 {
			sel |= 1 << selMod3
		}
	}
	d.row = ix.find(d.class, d.opmap, d.pp, op, sel)
	return d.row != nil && d.vvvvUsed() && d.broadcastAllowed()
}

// broadcastAllowed is false for EVEX.b with memory on an instruction without
// broadcast (Intel SDM vol. 2A, 2.7.11.2).
func (d *decoder) broadcastAllowed() bool {
	return !d.evexB || d.row.bcast != 0 || d.inst.ModRM >= 0xc0
}

// vvvvUsed is false if vvvv names a register that the instruction has not: it
// must be all ones then (Intel SDM vol. 2A, 2.3.5.6). V' may extend a vector index.
func (d *decoder) vvvvUsed() bool {
	return d.row.attr&attrVVVV != 0 || d.vvvv&15 == 0 && (d.vvvv == 0 || d.row.attr&attrVSIB != 0)
}

// finish sets what depends on the whole instruction.
func (d *decoder) finish() {
	in := d.inst
	in.Len = uint8(d.pos)
	in.Lock = d.lock || d.row.attr&attrLock != 0 && in.HasMem
	in.OpSize16 = d.opsize16 && !d.mandatory66()
	if d.row.attr&attrString != 0 && d.rep != 0 {
		in.Rep = d.rep
		in.Special = SpecialRep
		in.CondWrite = true
		in.Reads = in.Reads.With(RCX)
		in.Writes = in.Writes.With(RCX)
	}
	if in.OpSize16 || in.CondWrite {
		in.Reads |= in.Writes
	}
	if in.Branch.near() && d.truncated() {
		in.Branch = BranchFar
	}
}

// mandatory66 is true where 66 is part of the opcode and no operand has the
// operand size (movbe has both).
func (d *decoder) mandatory66() bool {
	if d.row.pp != 1 {
		return false
	}
	for _, o := range d.row.ops[:d.row.nops] {
		if o.size == sizeV {
			return false
		}
	}
	return true
}

// near reports whether a branch stays in the code segment.
func (b Branch) near() bool { return b >= BranchCond && b <= BranchRet }
