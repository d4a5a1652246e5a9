package enc

// Instructions that compare and count, for code that works on tables.

import "lime/internal/x86"

// Test emits test a, b (64 bit).
func (a *Asm) Test(x, y x86.Reg) { a.reg2(true, []byte{0x85}, y, x) }

// And emits and dst, src (64 bit).
func (a *Asm) And(dst, src x86.Reg) { a.reg2(true, []byte{0x21}, src, dst) }

// Xor emits xor dst, src (64 bit).
func (a *Asm) Xor(dst, src x86.Reg) { a.reg2(true, []byte{0x31}, src, dst) }

// AndShort emits and r32, imm8, sign-extended.
func (a *Asm) AndShort(r x86.Reg, v int8) {
	a.reg2(false, []byte{0x83}, 4, r)
	a.Bytes(byte(v))
}

// Shr emits shr r64, n.
func (a *Asm) Shr(r x86.Reg, n byte) {
	a.reg2(true, []byte{0xc1}, 5, r)
	a.Bytes(n)
}

// OrMem emits or r64, m.
func (a *Asm) OrMem(r x86.Reg, m Mem) { a.op(true, []byte{0x0b}, r, m, 0) }

// CmpReg32 emits cmp r32, m.
func (a *Asm) CmpReg32(r x86.Reg, m Mem) { a.op(false, []byte{0x3b}, r, m, 0) }

// Dec32Borrow emits sub dword m, 1: unlike dec, it tells by CF whether there was none left.
func (a *Asm) Dec32Borrow(m Mem) {
	a.op(false, []byte{0x83}, 5, m, 1)
	a.Bytes(1)
}

// LoadDouble emits movsd xmm, m, for the first eight registers.
func (a *Asm) LoadDouble(r byte, m Mem) {
	a.Bytes(0xf2)
	a.op(false, []byte{0x0f, 0x10}, x86.Reg(r), m, 0)
}
