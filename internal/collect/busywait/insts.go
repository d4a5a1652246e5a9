// What is asked of instructions (opcodes: Intel SDM vol. 2, appendix A).

package busywait

import (
	"math/bits"
	"strings"

	"lime/internal/x86"
)

// Allowed reports whether a loop that waits may have an instruction at all, wherever it stands.
func Allowed(in *x86.Inst) bool {
	switch in.Branch {
	case x86.BranchCond, x86.BranchJump, x86.BranchCall, x86.BranchCallInd:
		return true
	case x86.BranchNone, x86.BranchLoop:
	default:
		return false
	}
	switch {
	case Tries(in), fences(in):
		return true
	case in.Writes.Has(x86.RSP), (in.VecReads|in.VecWrites)>>16 != 0, in.ImplicitWrite, in.ImplicitRead, in.Lock, in.X87,
		in.Special == x86.SpecialXSAVE, in.Special == x86.SpecialPrivileged:
		return false
	}
	return !stores(in) || in.Mem.Base == x86.RSP || in.Mem.Base == x86.RBP
}

func stores(in *x86.Inst) bool { return in.HasMem && in.Mem.Write && in.Mem.Bytes > 0 }

// Clears reports whether an instruction makes what it writes zero: xor r, r and sub r, r. Whole says that
// nothing is left of the register.
func Clears(in *x86.Inst) (whole, is bool) {
	is = in.Map == 0 && in.Enc == x86.Legacy && in.HasModRM && !in.HasMem && in.RegField() == in.RMField() &&
		(in.Opcode|3 == 0x33 || in.Opcode|3 == 0x2b)
	return is && in.Opcode&1 == 1 && !in.OpSize16, is
}

// ClearsVector reports whether an instruction makes a vector register nil whatever it held.
func ClearsVector(in *x86.Inst) bool {
	switch strings.TrimPrefix(in.Name, "v") {
	case "xorps", "xorpd", "pxor":
		return (in.SSE || in.AVX) && !in.AVX512 && !in.HasMem && bits.OnesCount32(in.VecReads) <= 1 // of itself
	}
	return false
}

// clears reports whether an instruction makes a register zero.
func clears(in *x86.Inst) bool {
	whole, _ := Clears(in)
	return whole || ClearsVector(in)
}

// moves reports whether an instruction leaves a value as it is: mov and, of the lower part, the
// extensions; the same again changes nothing.
func moves(in *x86.Inst) bool {
	if in.Enc != x86.Legacy || in.CondWrite || in.OpSize16 {
		return false
	}
	switch in.Map {
	case 0:
		return in.Opcode&^3 == 0x88 || in.Opcode&^7 == 0xb8 || in.Opcode == 0xc6 || in.Opcode == 0xc7 || in.Opcode == 0x63 || in.Opcode == 0x98
	case 1:
		switch in.Opcode {
		case 0xb6, 0xb7, 0xbe, 0xbf, // movzx, movsx
			0x10, 0x11, 0x28, 0x29, 0x6f, 0x7f: // movups, movss, movaps, movdqu and their like
			return true
		}
	}
	return false
}

// immediate is what is known of a constant that is moved. Behind a byte the rest of a register is not
// known, and a word's other byte may be what is not zero.
func immediate(in *x86.Inst) knowledge {
	switch k := knownAs(in.Imm); {
	case in.Map != 0 || in.Enc != x86.Legacy || in.OpSize16 && k != nonzero:
	case in.Opcode&^7 == 0xb8, in.Opcode&^1 == 0xc6:
		return k
	case in.Opcode&^7 == 0xb0 && k == nonzero:
		return k
	}
	return unknown
}

// Lowest is the registers of which an instruction uses the lowest byte only; ok is false if it uses more.
// Code that is not optimised has truth values in them, and what such an instruction leaves of the rest of
// a register is no use of it. Registers of addresses are none of these.
func Lowest(in *x86.Inst) (reads, writes x86.RegSet, ok bool) {
	if !readsByte(in) {
		return 0, 0, false
	}
	reads = in.Reads
	if putsByte(in) {
		reads &^= in.Writes
	}
	return reads &^ Addressed(in), in.Writes, true
}

// Addressed is the registers of which an instruction makes an address.
func Addressed(in *x86.Inst) (s x86.RegSet) {
	if in.HasMem {
		s = s.With(in.Mem.Base).With(in.Mem.Index)
	}
	return s
}

// ofBytes reports whether an instruction's operands are bytes, and none of them ah, ch, dh or bh. With
// these it counts as one that reads and writes all of the register; so do products and quotients, of
// which ah is a part.
func ofBytes(in *x86.Inst) bool {
	if in.Enc != x86.Legacy || in.Rex == 0 && in.HasModRM && (in.Digit() >= 4 && takesRegister(in) || !in.HasMem && in.ModRM&7 >= 4) {
		return false
	}
	switch op := in.Opcode; in.Map {
	case 0:
		return op < 0x40 && op&1 == 0 && op&7 < 6 || op >= 0x80 && op <= 0x8a && op&1 == 0 && op != 0x82 || op == 0xa8 ||
			op&^7 == 0xb0 && (in.Rex != 0 || op < 0xb4) || op == 0xc6 || op == 0xf6 && in.Digit() < 4 || op == 0xfe || op == 0xc0 || op == 0xd0 || op == 0xd2
	case 1:
		return op&^15 == 0x90 || op == 0xb0
	}
	return false
}

// takesRegister reports whether the middle of an instruction's ModRM names a register.
func takesRegister(in *x86.Inst) bool {
	switch op := in.Opcode; in.Map {
	case 0:
		return op < 0x40 || op >= 0x84 && op <= 0x8b
	case 1:
		return op&^15 != 0x90
	}
	return true
}

// readsByte reports whether an instruction reads the lowest bytes of registers: movzx and movsx leave
// whole ones.
func readsByte(in *x86.Inst) bool {
	extends := in.Map == 1 && in.Enc == x86.Legacy && (in.Opcode == 0xb6 || in.Opcode == 0xbe)
	return ofBytes(in) || extends && (in.HasMem || in.Rex != 0 || in.ModRM&7 < 4)
}

// putsByte reports whether an instruction replaces the lowest byte of a register whatever that was.
func putsByte(in *x86.Inst) bool {
	if !ofBytes(in) {
		return false
	}
	if in.Map == 1 {
		return in.Opcode&^15 == 0x90
	}
	return in.Opcode == 0x8a && in.RegField() != rmIfRegister(in) || in.Opcode == 0x88 && !in.HasMem && in.RegField() != in.RMField() ||
		in.Opcode&^7 == 0xb0 || in.Opcode == 0xc6 && !in.HasMem
}

func rmIfRegister(in *x86.Inst) x86.Reg {
	if in.HasMem {
		return x86.NoReg
	}
	return in.RMField()
}

// steps reports whether an instruction makes the next value of a counter: it adds, subtracts, shifts,
// or masks.
func steps(in *x86.Inst) bool {
	if in.Enc != x86.Legacy {
		return false
	}
	switch in.Map {
	case 0:
		switch in.Opcode &^ 1 {
		case 0x80, 0x82: // add, and, sub, cmp with a constant
			return in.Digit() == 0 || in.Digit() == 4 || in.Digit() == 5
		case 0xfe:
			return in.Digit() <= 1
		case 0xc0, 0xd0: // shifts, no rotations
			return in.Digit() >= 4
		case 0x00, 0x02, 0x28, 0x2a: // add, sub
			return true
		}
		return in.Opcode == 0x8d && addsOnce(in) || moves(in)
	case 1:
		return moves(in)
	}
	return false
}

// addsOnce reports whether what lea computes is no multiple, but for a shift.
func addsOnce(in *x86.Inst) bool {
	m := &in.Mem
	return m.Base == x86.NoReg || m.Index == x86.NoReg || m.Base == m.Index && m.Scale == 1
}

// chooses reports whether an instruction leaves one of some values of a counter: cmov, adc and sbb of
// a constant, and a shift by cl.
func chooses(in *x86.Inst) bool {
	if in.Enc != x86.Legacy {
		return false
	}
	switch in.Map {
	case 0:
		return shiftsByCL(in) || in.Opcode&^3 == 0x80 && (in.Digit() == 2 || in.Digit() == 3)
	case 1:
		return in.Opcode&^15 == 0x40
	}
	return false
}

func shiftsByCL(in *x86.Inst) bool {
	return in.Map == 0 && in.Enc == x86.Legacy && in.Opcode&^1 == 0xd2 && in.Digit() >= 4 && !(in.Writes.Has(x86.RCX))
}

// Tries reports whether an instruction changes a word in memory once: xchg, lock cmpxchg, lock bts
// with a constant. Where it fails it leaves the word as it is, if what it puts there is always the
// same.
func Tries(in *x86.Inst) bool {
	if !in.Lock || !in.HasMem || in.Enc != x86.Legacy {
		return false
	}
	switch in.Map {
	case 0:
		return in.Opcode == 0x86 || in.Opcode == 0x87
	case 1:
		return compares(in) || in.Opcode == 0xba && in.Digit() == 5
	}
	return false
}

func compares(in *x86.Inst) bool { return in.Map == 1 && (in.Opcode == 0xb0 || in.Opcode == 0xb1) }

// fences reports whether an instruction orders memory and changes nothing: lock or with 0, which
// compilers take for mfence.
func fences(in *x86.Inst) bool {
	return in.Lock && in.HasMem && in.Map == 0 && in.Enc == x86.Legacy && in.Imm == 0 && in.Digit() <= 1 &&
		(in.Opcode == 0x80 || in.Opcode == 0x81 || in.Opcode == 0x83)
}

// rexW is the bit of a REX prefix for operands of 64 bits.
const rexW = 8

// narrow reports whether what an instruction leaves in a register has nothing above its 32nd bit: those
// with operands of 32 bits clear it (Intel SDM vol. 1, 3.4.1.1).
func narrow(in *x86.Inst) bool {
	return in.Enc == x86.Legacy && in.Rex&rexW == 0 && !in.OpSize16 && !ofBytes(in)
}
