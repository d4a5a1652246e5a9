package enc

import (
	"encoding/binary"

	"lime/internal/x86"
)

// CopyRIP emits inst (whose bytes are code, RIP-relative with the absolute
// address addr) so that it reaches the same address. It reports false and emits nothing
// if addr is more than 2 GB away.
func (a *Asm) CopyRIP(code []byte, inst *x86.Inst, addr uint64) bool {
	d := int64(addr) - int64(a.Here()) - int64(inst.Len)
	if int64(int32(d)) != d {
		return false
	}
	at := len(a.Code) + int(inst.DispOff)
	a.Bytes(code[:inst.Len]...)
	binary.LittleEndian.PutUint32(a.Code[at:], uint32(d))
	return true
}

// CopyBased emits inst with the base register of its memory operand replaced by
// base (one of the low eight, not RSP), the index and scale as they are, the displacement disp,
// and without a segment override.
func (a *Asm) CopyBased(code []byte, inst *x86.Inst, base x86.Reg, disp int32) {
	start := len(a.Code)
	head := code[:inst.ModRMOff]
	drop := -1
	if inst.SegOff != 0 {
		drop = int(inst.SegOff) - 1
	}
	for i, b := range head {
		if i != drop {
			a.Bytes(b)
		}
	}
	a.clearB(start, inst)
	if inst.Mem.Index == x86.NoReg {
		a.Bytes(0x80 | inst.ModRM&0x38 | low(base))
	} else {
		a.Bytes(0x80|inst.ModRM&0x38|4, code[inst.ModRMOff+1]&^7|low(base))
	}
	a.i32(disp)
	a.Bytes(code[tailOff(inst):inst.Len]...)
}

// tailOff returns the offset of what follows the memory operand.
func tailOff(inst *x86.Inst) uint8 {
	if inst.DispLen != 0 {
		return inst.DispOff + inst.DispLen
	}
	if inst.ModRM&7 == 4 {
		return inst.ModRMOff + 2
	}
	return inst.ModRMOff + 1
}

// clearB clears the extension bit of the base in the emitted prefix, and that of
// the index where there is none. VEX, XOP and EVEX hold them inverted.
func (a *Asm) clearB(start int, inst *x86.Inst) {
	p := a.Code[start:]
	for isLegacyPrefix(p[0]) {
		p = p[1:]
	}
	bits := byte(1)
	if inst.ModRM&7 != 4 {
		bits = 3
	}
	switch {
	case inst.Enc != x86.Legacy && p[0] != 0xc5:
		p[1] |= bits << 5
	case inst.Enc == x86.Legacy && inst.Rex != 0:
		p[0] &^= bits
	}
}

// isLegacyPrefix reports whether b is a prefix of groups 1 to 4 (SDM vol. 2, 2.1.1).
func isLegacyPrefix(b byte) bool {
	switch b {
	case 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3:
		return true
	}
	return false
}
