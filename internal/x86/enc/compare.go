package enc

// Instructions that compare and count.

import "lime/internal/x86"

// Table is an Asm for code that works on tables of its own, beside the guest's.
type Table struct{ *Asm }

// Cmpxchg emits cmpxchg m, r64: r goes to m if that is what rax says, else m to rax.
func (a Table) Cmpxchg(m Mem, r x86.Reg) { a.op(true, []byte{0x0f, 0xb1}, r, m, 0) }

// Test emits test a, b (64 bit).
func (a Table) Test(x, y x86.Reg) { a.reg2(true, []byte{0x85}, y, x) }

// AndMem emits and r64, m.
func (a Table) AndMem(r x86.Reg, m Mem) { a.op(true, []byte{0x23}, r, m, 0) }

// Xor emits xor dst, src (64 bit).
func (a Table) Xor(dst, src x86.Reg) { a.reg2(true, []byte{0x31}, src, dst) }

// AndShort emits and r32, imm8, sign-extended.
func (a Table) AndShort(r x86.Reg, v int8) {
	a.reg2(false, []byte{0x83}, 4, r)
	a.Bytes(byte(v))
}

// Shr emits shr r64, n.
func (a Table) Shr(r x86.Reg, n byte) {
	a.reg2(true, []byte{0xc1}, 5, r)
	a.Bytes(n)
}

// OrMem emits or r64, m.
func (a Table) OrMem(r x86.Reg, m Mem) { a.op(true, []byte{0x0b}, r, m, 0) }

// CmpReg32 emits cmp r32, m.
func (a Table) CmpReg32(r x86.Reg, m Mem) { a.op(false, []byte{0x3b}, r, m, 0) }

// Dec32Borrow emits sub dword m, 1: unlike dec, it tells by CF whether there was none left.
func (a Table) Dec32Borrow(m Mem) {
	a.op(false, []byte{0x83}, 5, m, 1)
	a.Bytes(1)
}

// LoadDouble emits movsd xmm, m, for the first eight registers.
func (a Table) LoadDouble(r byte, m Mem) {
	a.Bytes(0xf2)
	a.op(false, []byte{0x0f, 0x10}, x86.Reg(r), m, 0)
}

// AndShort64 emits and r64, imm8, sign-extended.
func (a Table) AndShort64(r x86.Reg, v int8) {
	a.reg2(true, []byte{0x83}, 4, r)
	a.Bytes(byte(v))
}

// Cmp32Regs emits cmp x, y (32 bit).
func (a Table) Cmp32Regs(x, y x86.Reg) { a.reg2(false, []byte{0x39}, y, x) }

// TestImm32 emits test r32, imm32.
func (a Table) TestImm32(r x86.Reg, v uint32) {
	a.reg2(false, []byte{0xf7}, 0, r)
	a.i32(int32(v))
}

// Spread emits what puts r32 into all four parts of one of the first eight XMM registers: movd, pshufd.
func (a Table) Spread(xmm byte, r x86.Reg) {
	a.Bytes(0x66)
	a.reg2(false, []byte{0x0f, 0x6e}, x86.Reg(xmm), r)
	a.Bytes(0x66, 0x0f, 0x70, 0xc0|xmm<<3|xmm, 0)
}

// StoreQuad emits movups m, xmm.
func (a Table) StoreQuad(m Mem, xmm byte) { a.op(false, []byte{0x0f, 0x11}, x86.Reg(xmm), m, 0) }

// AndImm emits and r32, imm32.
func (a Table) AndImm(r x86.Reg, v int32) { a.imm32(false, 4, r, v) }

// OrImm emits or r32, imm32.
func (a Table) OrImm(r x86.Reg, v int32) { a.imm32(false, 1, r, v) }

// Call emits call rel32.
func (a Table) Call(target uint64) {
	a.Bytes(0xe8)
	a.rel(target)
}

// MulImm emits imul r64, r64, imm32.
func (a Table) MulImm(r x86.Reg, v int32) {
	a.reg2(true, []byte{0x69}, r, r)
	a.i32(v)
}
