// Package x86 decodes x86-64 machine code: length, operands, memory operand,
// registers and flags read and written, kind of branch. It covers the legacy,
// VEX and EVEX encodings that gcc, clang, rustc and the Go compiler emit.
// It imports the standard library only, and knows nothing of translation.
package x86

// Reg numbers a register. General-purpose registers have the numbers of their
// encoding (Intel SDM vol. 2, table 2-2), so that Reg&7 is the ModRM field.
type Reg uint8

// General-purpose registers by their encoding number, then the rest.
const (
	RAX Reg = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
	RIP       // only as the base of a memory operand
	NoReg Reg = 0xff
)

// RegSet is a set of general-purpose registers (bit i = Reg i). Partial-width
// writes (8 and 16 bit) count as both a read and a write of the whole register;
// 32-bit writes clear the upper half and are writes only.
type RegSet uint16

// Has reports whether r is in the set.
func (s RegSet) Has(r Reg) bool { return r < 16 && s&(1<<r) != 0 }

// With returns the set with r added; NoReg and RIP add nothing.
func (s RegSet) With(r Reg) RegSet {
	if r < 16 {
		return s | 1<<r
	}
	return s
}

// Flags is a set of status flags.
type Flags uint8

// The status flags and the direction flag.
const (
	CF Flags = 1 << iota
	PF
	AF
	ZF
	SF
	OF
	DF

	StatusFlags = CF | PF | AF | ZF | SF | OF
)

// Branch classifies how an instruction can leave the straight line.
type Branch uint8

// The kinds of branch.
const (
	BranchNone    Branch = iota
	BranchCond           // jcc rel8/rel32; Cond holds the condition
	BranchLoop           // loop, loope, loopne, jecxz, jrcxz (rel8 only)
	BranchJump           // jmp rel
	BranchCall           // call rel
	BranchJumpInd        // jmp r/m64
	BranchCallInd        // call r/m64
	BranchRet            // ret, ret imm16
	BranchSyscall        // syscall
	BranchFar            // far jmp/call/ret, iret, sysenter, sysret: not translated
	BranchTrap           // int3, int n, int1, ud0/1/2, hlt: always faults or traps
	BranchTxn            // xbegin (fallback address is a target)
)

// Special marks instructions that an engine must treat on their own.
type Special uint8

// The special instructions.
const (
	SpecialNone       Special = iota
	SpecialCPUID              // cpuid
	SpecialRDTSC              // rdtsc
	SpecialRDTSCP             // rdtscp
	SpecialRDPID              // rdpid
	SpecialXGETBV             // xgetbv
	SpecialRDRAND             // rdrand, rdseed: not repeatable
	SpecialFSGSBASE           // rd/wr fs/gs base
	SpecialRep                // string instruction with rep/repe/repne (RCX counts)
	SpecialPause              // pause, tpause, umwait: a hint of a spin loop
	SpecialSerial             // mfence, lfence, sfence, serialize
	SpecialXSAVE              // xsave/xrstor/fxsave/fxrstor families
	SpecialPrivileged         // faults in user mode
)

// Encoding is the encoding family of an instruction.
type Encoding uint8

// The encoding families.
const (
	Legacy Encoding = iota
	VEX
	EVEX
	XOP
)

// Mem describes the explicit (ModRM) memory operand. Implicit memory operands
// (push, pop, call, ret, string instructions, enter, leave, maskmov, xlat) are in
// Inst.ImplicitRead and ImplicitWrite.
type Mem struct {
	Base, Index Reg   // NoReg if absent; Base == RIP for RIP-relative
	Scale       uint8 // 1, 2, 4, 8
	Disp        int32 // EVEX disp8*N already scaled
	Seg         uint8 // 0, or 0x64 (fs), 0x65 (gs)
	Addr32      bool  // address-size override: the effective address wraps at 32 bit
	VSIB        bool  // Index is a vector register: gather or scatter
	// bytes accessed (of one element for VSIB, at most for compress and expand); 0 = depends on
	// state (xsave) or no access (lea, nop, prefetch)
	Bytes uint16
	Read  bool
	Write bool
}

// Inst is one decoded instruction. Offsets are from its first byte; an offset
// of 0 means that the part is absent (none can stand at 0 but prefixes/opcode).
type Inst struct {
	Len      uint8
	Enc      Encoding
	Map      uint8 // opcode map: 0 one-byte, 1 0F, 2 0F38, 3 0F3A, EVEX 5, 6; XOP 8, 9, 10
	Opcode   uint8
	ModRM    uint8
	Rex      uint8 // legacy REX byte, or 0
	OpSize16 bool  // 66 as operand-size prefix
	Rep      uint8 // 0, 0xf2, 0xf3 when it acts as rep/repne (string instructions)
	Lock     bool  // lock prefix, or xchg with memory

	OpcodeOff, ModRMOff, DispOff, DispLen, ImmOff, ImmLen uint8
	SegOff                                                uint8 // offset+1 of the segment-override byte in effect (fs/gs), 0 = none

	HasModRM bool
	HasMem   bool // ModRM names memory (also for lea, nop, prefetch: see Mem.Bytes)
	Mem      Mem
	// sign-extended immediate (the first one, if two; ImmLen counts both), branch displacement, or
	// absolute address of a mov a0 to a3
	Imm int64

	ImplicitRead  bool // reads memory that no ModRM names
	ImplicitWrite bool

	Reads, Writes RegSet // general-purpose registers, implicit and address registers included
	// vector registers, implied ones included (bit i = xmm/ymm/zmm i); what merges into its
	// destination reads it, but for the upper part that legacy SSE keeps
	VecReads, VecWrites   uint32
	FlagsRead, FlagsWrite Flags // FlagsWrite includes flags left undefined
	// bt, bts, btr, btc with memory and a register: accesses at the effective address plus
	// (register>>3), rounded down to the operand size
	BitString bool
	CondWrite bool // writes to registers or flags may not happen (cmov, rep, shift by cl): treat Writes also as Reads

	Branch  Branch
	Cond    uint8 // condition code 0-15 for BranchCond, setcc, cmov
	Rel     int64 // branch displacement from the end of the instruction
	Special Special

	X87, SSE, AVX, AVX512 bool   // which register state it touches: MMX is X87; AVX implies SSE
	Name                  string // mnemonic of the table row, AT&T base form without size suffix; for messages and tests
}

// EndsBlock reports whether a basic block ends after the instruction.
func (i *Inst) EndsBlock() bool { return i.Branch != BranchNone }

// RegField is the general-purpose register that the middle of ModRM names, where that is no part of the
// opcode (Intel SDM vol. 2, 2.1.5 and 2.2.1.2).
func (i *Inst) RegField() Reg { return Reg(i.ModRM>>3&7 | i.Rex>>2&1<<3) }

// RMField is the one that ModRM names in place of a memory operand.
func (i *Inst) RMField() Reg { return Reg(i.ModRM&7 | i.Rex&1<<3) }

// Digit is the middle of ModRM where it is a part of the opcode (/digit in the manual).
func (i *Inst) Digit() uint8 { return i.ModRM >> 3 & 7 }

// Target returns the address of a direct branch whose instruction starts at pc.
func (i *Inst) Target(pc uint64) uint64 { return pc + uint64(i.Len) + uint64(i.Rel) }
