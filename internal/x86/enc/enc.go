// Package enc emits the x86-64 instructions that the translator adds to guest
// code, and rewrites memory operands of guest instructions. Opcodes are from the Intel SDM,
// vol. 2. It imports internal/x86 and the standard library only.
package enc

import (
	"encoding/binary"
	"math/bits"

	"lime/internal/x86"
)

// Mem is a memory operand. Base RIP makes Disp an absolute address that is
// reached RIP-relatively; NoReg for both registers makes it an absolute one.
type Mem struct {
	Base, Index x86.Reg
	Scale       uint8 // 1, 2, 4, 8
	Disp        int32
	GS          bool  // relative to the context
	FS          bool  // relative to the thread control block
	Least       uint8 // bytes that the displacement takes at the least: 0, 1 or 4
}

// FS returns the field of the thread control block at off.
func FS(off int32) Mem { return Mem{Base: x86.NoReg, Index: x86.NoReg, Disp: off, FS: true} }

// GS returns the field of the context at off.
func GS(off uint32) Mem {
	return Mem{Base: x86.NoReg, Index: x86.NoReg, Disp: int32(off), GS: true}
}

// At returns [base+disp].
func At(base x86.Reg, disp int32) Mem { return Mem{Base: base, Index: x86.NoReg, Disp: disp} }

// Asm collects code that will stand at PC.
type Asm struct {
	PC   uint64 // address of Code[0]
	Code []byte
}

// Here returns the address of the next instruction.
func (a *Asm) Here() uint64 { return a.PC + uint64(len(a.Code)) }

// Bytes emits raw bytes.
func (a *Asm) Bytes(b ...byte) { a.Code = append(a.Code, b...) }

func (a *Asm) i32(v int32) { a.Code = binary.LittleEndian.AppendUint32(a.Code, uint32(v)) }
func (a *Asm) i64(v int64) { a.Code = binary.LittleEndian.AppendUint64(a.Code, uint64(v)) }

func low(r x86.Reg) byte { return byte(r) & 7 }
func ext(r x86.Reg) byte {
	if r < 16 {
		return byte(r) >> 3
	}
	return 0
}

// op emits prefix, REX and opcode for reg and a memory operand, and the operand.
// imm is the number of immediate bytes that follow (for RIP-relative operands).
func (a *Asm) op(w bool, opcode []byte, reg x86.Reg, m Mem, imm int) {
	switch {
	case m.GS:
		a.Bytes(0x65)
	case m.FS:
		a.Bytes(0x64)
	}
	rex := ext(reg)<<2 | ext(m.Index)<<1 | ext(m.Base)
	if w {
		rex |= 8
	}
	if rex != 0 {
		a.Bytes(0x40 | rex)
	}
	a.Bytes(opcode...)
	a.mem(low(reg)<<3, m, imm)
}

// mem emits ModRM, SIB and displacement. A base of RBP or R13 always gets a displacement.
func (a *Asm) mem(reg byte, m Mem, imm int) {
	switch {
	case m.Base == x86.RIP:
		a.Bytes(reg | 5)
		a.i32(int32(int64(m.Disp) - int64(a.Here()) - 4 - int64(imm)))
	case m.Base == x86.NoReg:
		a.Bytes(reg|4, sib(m)|5)
		a.i32(m.Disp)
	default:
		a.based(reg, m)
	}
}

func (a *Asm) based(reg byte, m Mem) {
	mod := byte(0x80)
	switch {
	case m.Least > 1:
	case m.Disp == 0 && low(m.Base) != 5 && m.Least == 0:
		mod = 0
	case int32(int8(m.Disp)) == m.Disp:
		mod = 0x40
	}
	if m.Index == x86.NoReg && low(m.Base) != 4 {
		a.Bytes(mod | reg | low(m.Base))
	} else {
		a.Bytes(mod|reg|4, sib(m)|low(m.Base))
	}
	switch mod {
	case 0x40:
		a.Bytes(byte(m.Disp))
	case 0x80:
		a.i32(m.Disp)
	}
}

// sib returns the scale and index fields.
func sib(m Mem) byte {
	if m.Index == x86.NoReg {
		return 4 << 3
	}
	return byte(bits.TrailingZeros8(m.Scale))<<6 | low(m.Index)<<3
}

// Load emits mov r64, m.
func (a *Asm) Load(r x86.Reg, m Mem) { a.op(true, []byte{0x8b}, r, m, 0) }

// Load32 emits mov r32, m.
func (a *Asm) Load32(r x86.Reg, m Mem) { a.op(false, []byte{0x8b}, r, m, 0) }

// LoadZX emits a move of size bytes from memory, zero-extended.
func (a *Asm) LoadZX(r x86.Reg, m Mem, size int) {
	switch size {
	case 8:
		a.Load(r, m)
	case 4:
		a.Load32(r, m)
	case 2:
		a.op(false, []byte{0x0f, 0xb7}, r, m, 0)
	default:
		a.op(false, []byte{0x0f, 0xb6}, r, m, 0)
	}
}

// Store emits mov m, r64.
func (a *Asm) Store(m Mem, r x86.Reg) { a.op(true, []byte{0x89}, r, m, 0) }

// Store32 emits mov m, r32.
func (a *Asm) Store32(m Mem, r x86.Reg) { a.op(false, []byte{0x89}, r, m, 0) }

// StoreImm32 emits mov dword m, imm.
func (a *Asm) StoreImm32(m Mem, v int32) {
	a.op(false, []byte{0xc7}, 0, m, 4)
	a.i32(v)
}

// Lea emits lea r64, m.
func (a *Asm) Lea(r x86.Reg, m Mem) { a.op(true, []byte{0x8d}, r, m, 0) }

// Lea32 emits lea r32, m.
func (a *Asm) Lea32(r x86.Reg, m Mem) { a.op(false, []byte{0x8d}, r, m, 0) }

// Inc emits inc qword m. CF stays.
func (a *Asm) Inc(m Mem) { a.op(true, []byte{0xff}, 0, m, 0) }

// Add emits add qword m, imm.
func (a *Asm) Add(m Mem, v int32) { a.arith(0, m, v) }

// Sub emits sub qword m, imm.
func (a *Asm) Sub(m Mem, v int32) { a.arith(5, m, v) }

// Cmp emits cmp qword m, imm.
func (a *Asm) Cmp(m Mem, v int32) { a.arith(7, m, v) }

// AddReg emits add qword m, r.
func (a *Asm) AddReg(m Mem, r x86.Reg) { a.op(true, []byte{0x01}, r, m, 0) }

// SubReg emits sub qword m, r.
func (a *Asm) SubReg(m Mem, r x86.Reg) { a.op(true, []byte{0x29}, r, m, 0) }

// AddImm emits add r64, imm.
func (a *Asm) AddImm(r x86.Reg, v int32) { a.arithReg(0, r, v) }

// CmpImm emits cmp r64, imm.
func (a *Asm) CmpImm(r x86.Reg, v int32) { a.arithReg(7, r, v) }

func (a *Asm) arithReg(op, r x86.Reg, v int32) {
	if int32(int8(v)) == v {
		a.reg2(true, []byte{0x83}, op, r)
		a.Bytes(byte(v))
		return
	}
	a.reg2(true, []byte{0x81}, op, r)
	a.i32(v)
}

// And32 emits and r32, imm.
func (a *Asm) And32(r x86.Reg, v int32) {
	a.reg2(false, []byte{0x81}, 4, r)
	a.i32(v)
}

// Half32 emits shr r32, 1.
func (a *Asm) Half32(r x86.Reg) { a.reg2(false, []byte{0xd1}, 5, r) }

// AddMem emits add r64, m.
func (a *Asm) AddMem(r x86.Reg, m Mem) { a.op(true, []byte{0x03}, r, m, 0) }

// SubMem emits sub r64, m.
func (a *Asm) SubMem(r x86.Reg, m Mem) { a.op(true, []byte{0x2b}, r, m, 0) }

// Cmp32 emits cmp dword m, imm32.
func (a *Asm) Cmp32(m Mem, v int32) {
	a.op(false, []byte{0x81}, 7, m, 4)
	a.i32(v)
}

// Inc32 emits inc dword m. CF stays.
func (a *Asm) Inc32(m Mem) { a.op(false, []byte{0xff}, 0, m, 0) }

// Mov32 emits mov dst32, src32.
func (a *Asm) Mov32(dst, src x86.Reg) { a.reg2(false, []byte{0x89}, src, dst) }

// Lahf emits lahf.
func (a *Asm) Lahf() { a.Bytes(0x9f) }

// Sahf emits sahf.
func (a *Asm) Sahf() { a.Bytes(0x9e) }

// SetO emits seto al.
func (a *Asm) SetO() { a.Bytes(0x0f, 0x90, 0xc0) }

// AddAL emits add al, v.
func (a *Asm) AddAL(v byte) { a.Bytes(0x04, v) }

// CmpReg emits cmp r64, m.
func (a *Asm) CmpReg(r x86.Reg, m Mem) { a.op(true, []byte{0x3b}, r, m, 0) }

// Zero emits xor r32, r32.
func (a *Asm) Zero(r x86.Reg) { a.reg2(false, []byte{0x31}, r, r) }

// Not emits not r64, which leaves the flags alone.
func (a *Asm) Not(r x86.Reg) { a.reg2(true, []byte{0xf7}, 2, r) }

func (a *Asm) arith(op x86.Reg, m Mem, v int32) {
	if int32(int8(v)) == v {
		a.op(true, []byte{0x83}, op, m, 1)
		a.Bytes(byte(v))
		return
	}
	a.op(true, []byte{0x81}, op, m, 4)
	a.i32(v)
}

func (a *Asm) short(op byte, r x86.Reg) {
	if r >= 8 {
		a.Bytes(0x41)
	}
	a.Bytes(op | low(r))
}

// PushImm emits push imm32, which pushes eight bytes, sign-extended.
func (a *Asm) PushImm(v int32) {
	a.Bytes(0x68)
	a.i32(v)
}

// reg2 emits an instruction on two registers, rm first.
func (a *Asm) reg2(w bool, opcode []byte, reg, rm x86.Reg) {
	rex := ext(reg)<<2 | ext(rm)
	if w {
		rex |= 8
	}
	if rex != 0 {
		a.Bytes(0x40 | rex)
	}
	a.Bytes(opcode...)
	a.Bytes(0xc0 | low(reg)<<3 | low(rm))
}

// Mov emits mov dst, src (64 bit).
func (a *Asm) Mov(dst, src x86.Reg) { a.reg2(true, []byte{0x89}, src, dst) }

// MovImm emits the shortest mov that sets r to v without touching flags.
func (a *Asm) MovImm(r x86.Reg, v uint64) {
	switch {
	case v <= 0xffffffff:
		a.short(0xb8, r)
		a.i32(int32(uint32(v)))
	case int64(int32(v)) == int64(v):
		a.Bytes(0x48 | ext(r))
		a.Bytes(0xc7, 0xc0|low(r))
		a.i32(int32(v))
	default:
		a.Bytes(0x48|ext(r), 0xb8|low(r))
		a.i64(int64(v))
	}
}

// Movzx16 emits movzx dst32, src16.
func (a *Asm) Movzx16(dst, src x86.Reg) { a.reg2(false, []byte{0x0f, 0xb7}, dst, src) }

// Movzx8 emits movzx dst32, src8; src must be RAX to RBX.
func (a *Asm) Movzx8(dst, src x86.Reg) { a.reg2(false, []byte{0x0f, 0xb6}, dst, src) }

// JmpMem emits jmp qword m.
func (a *Asm) JmpMem(m Mem) { a.op(false, []byte{0xff}, 4, m, 0) }

// Jmp emits jmp rel32 to target and returns where the displacement stands.
func (a *Asm) Jmp(target uint64) uint64 {
	a.Bytes(0xe9)
	return a.rel(target)
}

// Jcc emits a conditional jump, rel32, and returns where the displacement stands.
func (a *Asm) Jcc(cond byte, target uint64) uint64 {
	a.Bytes(0x0f, 0x80|cond)
	return a.rel(target)
}

func (a *Asm) rel(target uint64) uint64 {
	at := a.Here()
	a.i32(int32(int64(target) - int64(at) - 4))
	return at
}

// Jrcxz emits jrcxz, to be bound by Bind.
func (a *Asm) Jrcxz() int { return a.fwd(0xe3) }

func (a *Asm) fwd(op byte) int {
	a.Bytes(op, 0)
	return len(a.Code)
}

// Bind makes the short jump that answered at lead here.
func (a *Asm) Bind(at int) {
	d := len(a.Code) - at
	if d > 127 {
		panic("enc: short jump too far")
	}
	a.Code[at-1] = byte(d)
}

// Condition codes (SDM vol. 2, table B-10).
const (
	CondO  = 0
	CondNO = 1
	CondB  = 2
	CondAE = 3
	CondE  = 4
	CondNE = 5
	CondBE = 6
	CondA  = 7
	CondS  = 8
	CondNS = 9
	CondLE = 14
	CondG  = 15
)
