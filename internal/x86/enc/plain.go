package enc

// Instructions of code that stands by itself: calls and returns, the stack, locked operations,
// forms of a fixed length.

import "lime/internal/x86"

// Push emits push r64.
func (a *Asm) Push(r x86.Reg) { a.short(0x50, r) }

// Pop emits pop r64.
func (a *Asm) Pop(r x86.Reg) { a.short(0x58, r) }

// Ret emits ret.
func (a *Asm) Ret() { a.Bytes(0xc3) }

// Int3 emits int3.
func (a *Asm) Int3() { a.Bytes(0xcc) }

// Syscall emits syscall.
func (a *Asm) Syscall() { a.Bytes(0x0f, 0x05) }

// Rdtsc emits rdtsc.
func (a *Asm) Rdtsc() { a.Bytes(0x0f, 0x31) }

// Lfence emits lfence: what follows begins when all before has been done.
func (a *Asm) Lfence() { a.Bytes(0x0f, 0xae, 0xe8) }

// Lock emits the prefix lock, for the instruction that follows.
func (a *Asm) Lock() { a.Bytes(0xf0) }

// CallReg emits call r64.
func (a *Asm) CallReg(r x86.Reg) { a.reg2(false, []byte{0xff}, 2, r) }

// JmpReg emits jmp r64.
func (a *Asm) JmpReg(r x86.Reg) { a.reg2(false, []byte{0xff}, 4, r) }

// CallMem emits call qword m.
func (a *Asm) CallMem(m Mem) { a.op(false, []byte{0xff}, 2, m, 0) }

// Rip is the operand that lies n bytes behind an instruction of size bytes that is emitted next.
func (a *Asm) Rip(size, n int) Mem {
	return Mem{Base: x86.RIP, Index: x86.NoReg, Disp: int32(a.Here()) + int32(size+n)}
}

// MovImm64 emits mov r64, imm64, whatever v is.
func (a *Asm) MovImm64(r x86.Reg, v uint64) {
	a.Bytes(0x48|ext(r), 0xb8|low(r))
	a.i64(int64(v))
}

// AddImm32 emits add r64, imm32, whatever v is.
func (a *Asm) AddImm32(r x86.Reg, v int32) { a.imm32(true, 0, r, v) }

// SubImm32 emits sub r64, imm32, whatever v is.
func (a *Asm) SubImm32(r x86.Reg, v int32) { a.imm32(true, 5, r, v) }

// CmpImm32 emits cmp r64, imm32, whatever v is.
func (a *Asm) CmpImm32(r x86.Reg, v int32) { a.imm32(true, 7, r, v) }

// Cmp32Imm32 emits cmp r32, imm32.
func (a *Asm) Cmp32Imm32(r x86.Reg, v int32) { a.imm32(false, 7, r, v) }

func (a *Asm) imm32(w bool, op, r x86.Reg, v int32) {
	a.reg2(w, []byte{0x81}, op, r)
	a.i32(v)
}

// SubImm emits sub r64, imm.
func (a *Asm) SubImm(r x86.Reg, v int32) { a.arithReg(5, r, v) }

// AndEAX emits and eax, imm32.
func (a *Asm) AndEAX(v int32) {
	a.Bytes(0x25)
	a.i32(v)
}

// CmpEAX emits cmp eax, imm32.
func (a *Asm) CmpEAX(v int32) {
	a.Bytes(0x3d)
	a.i32(v)
}

// CmpRAX emits cmp rax, imm32.
func (a *Asm) CmpRAX(v int32) {
	a.Bytes(0x48)
	a.CmpEAX(v)
}

// CmpRegs emits cmp left, right (64 bit).
func (a *Asm) CmpRegs(left, right x86.Reg) { a.reg2(true, []byte{0x39}, right, left) }

// Test32 emits test r32, r32.
func (a *Asm) Test32(r x86.Reg) { a.reg2(false, []byte{0x85}, r, r) }

// TestByte emits test r8, imm8; r must be RSP to RDI, of which it tests the low byte.
func (a *Asm) TestByte(r x86.Reg, v byte) { a.Bytes(0x40, 0xf6, 0xc0|low(r), v) }

// Cmp32Short emits cmp dword m, imm8.
func (a *Asm) Cmp32Short(m Mem, v int8) {
	a.op(false, []byte{0x83}, 7, m, 1)
	a.Bytes(byte(v))
}

// Or emits or dst, src (64 bit).
func (a *Asm) Or(dst, src x86.Reg) { a.reg2(true, []byte{0x09}, src, dst) }

// Shl emits shl r64, n.
func (a *Asm) Shl(r x86.Reg, n byte) {
	a.reg2(true, []byte{0xc1}, 4, r)
	a.Bytes(n)
}

// Shl32 emits shl r32, n.
func (a *Asm) Shl32(r x86.Reg, n byte) {
	a.reg2(false, []byte{0xc1}, 4, r)
	a.Bytes(n)
}

// IncReg emits inc r64.
func (a *Asm) IncReg(r x86.Reg) { a.reg2(true, []byte{0xff}, 0, r) }

// Dec32 emits dec dword m.
func (a *Asm) Dec32(m Mem) { a.op(false, []byte{0xff}, 1, m, 0) }

// Xadd emits xadd m, r64.
func (a *Asm) Xadd(m Mem, r x86.Reg) { a.op(true, []byte{0x0f, 0xc1}, r, m, 0) }

// Xadd32 emits xadd m, r32.
func (a *Asm) Xadd32(m Mem, r x86.Reg) { a.op(false, []byte{0x0f, 0xc1}, r, m, 0) }

// StoreImm emits mov qword m, imm32.
func (a *Asm) StoreImm(m Mem, v int32) {
	a.op(true, []byte{0xc7}, 0, m, 4)
	a.i32(v)
}

// JccShort emits a conditional jump, rel8, to be bound by Bind.
func (a *Asm) JccShort(cond byte) int { return a.fwd(0x70 | cond) }

// JmpShort emits jmp rel8, to be bound by Bind.
func (a *Asm) JmpShort() int { return a.fwd(0xeb) }

// JccFar emits a conditional jump, rel32, to be bound by BindFar.
func (a *Asm) JccFar(cond byte) int {
	a.Jcc(cond, a.Here()+6)
	return len(a.Code)
}

// BindFar makes what answered at, whose last 32 bits are a distance, lead here.
func (a *Asm) BindFar(at int) {
	d := len(a.Code) - at
	for i := range 4 {
		a.Code[at-4+i] = byte(d >> (8 * i))
	}
}
