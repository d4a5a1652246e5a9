package engine

import (
	"errors"
	"fmt"
	"syscall"

	"lime/internal/cpu"
	"lime/internal/x86"
)

// ErrInstruction is wrapped by the error of an exit at an instruction that
// the engine does not run.
var ErrInstruction = errors.New("lime cannot run this instruction")

// emulated reports whether the guest does the instruction in software.
func emulated(in *x86.Inst) bool {
	switch in.Special {
	case x86.SpecialCPUID, x86.SpecialRDTSC, x86.SpecialRDTSCP, x86.SpecialRDPID,
		x86.SpecialXGETBV, x86.SpecialRDRAND:
		return true
	case x86.SpecialXSAVE:
		// Natively these would store all that the host has enabled, and so more
		// than a guest with a smaller XCR0 has made room for.
		return in.Name[0] == 'x'
	}
	return false
}

// runnable returns an error for an instruction that must not be copied.
func runnable(in *x86.Inst) error {
	switch {
	case in.Branch == x86.BranchFar:
		return fmt.Errorf("%w: far branches leave 64-bit user code", ErrInstruction)
	case loadsSegment(in):
		return fmt.Errorf("%w: it loads a segment register", ErrInstruction)
	case is32BitSyscall(in):
		return fmt.Errorf("%w: 32-bit system calls", ErrInstruction)
	case in.SegOff != 0 && !in.HasMem && (in.ImplicitRead || in.ImplicitWrite) && in.Branch == x86.BranchNone:
		return fmt.Errorf("%w: string operation relative to fs or gs", ErrInstruction)
	case in.HasMem && in.Mem.Seg != 0 && in.Mem.Addr32 && in.Name != "lea":
		return fmt.Errorf("%w: 32-bit address relative to fs or gs", ErrInstruction)
	}
	return nil
}

// loadsSegment: mov sreg (8E), pop fs/gs (0F A1, A9), lss/lfs/lgs (0F B2, B4, B5).
func loadsSegment(in *x86.Inst) bool {
	if in.Enc != x86.Legacy {
		return false
	}
	switch {
	case in.Map == 0:
		return in.Opcode == 0x8e
	case in.Map == 1:
		return in.Opcode == 0xa1 || in.Opcode == 0xa9 || in.Opcode == 0xb2 || in.Opcode == 0xb4 || in.Opcode == 0xb5
	}
	return false
}

func is32BitSyscall(in *x86.Inst) bool {
	return in.Branch == x86.BranchTrap && in.Map == 0 && in.Opcode == 0xcd && uint8(in.Imm) == 0x80
}

// Hardware trap numbers and signal codes (SDM vol. 3, table 6-1; Linux siginfo).
const (
	trapDB    = 1
	trapBP    = 3
	trapUD    = 6
	trapGP    = 13
	siKernel  = 0x80
	trapBrkpt = 1
	illOpn    = 2
)

// trapExit is what the kernel makes of a trap instruction at pc. after says that RIP is
// behind the instruction.
func trapExit(in *x86.Inst, pc uint64) (x cpu.Exit, after bool) {
	x = cpu.Exit{Reason: cpu.ExitFault, Signal: int(syscall.SIGSEGV), Code: siKernel, Trapno: trapGP}
	switch {
	case in.Map != 0: // ud0, ud1, ud2
		x.Signal, x.Code, x.Addr, x.Trapno = int(syscall.SIGILL), illOpn, pc, trapUD
	case in.Opcode == 0xcc, in.Opcode == 0xcd && in.Imm == 3:
		x.Signal, x.Trapno, after = int(syscall.SIGTRAP), trapBP, true
	case in.Opcode == 0xf1:
		x.Signal, x.Code, x.Trapno, after = int(syscall.SIGTRAP), trapBrkpt, trapDB, true
		x.Addr = pc + uint64(in.Len)
	case in.Opcode == 0xcd:
		x.ErrNo = uint64(uint8(in.Imm))<<3 | 2
	}
	return x, after
}

// endOf says how a block ends whose last instruction is in.
func endOf(in *x86.Inst) End {
	if emulated(in) {
		return EndOther
	}
	return [...]End{
		x86.BranchNone: EndFall, x86.BranchCond: EndCond, x86.BranchLoop: EndCond,
		x86.BranchJump: EndJump, x86.BranchCall: EndCall, x86.BranchJumpInd: EndJumpInd,
		x86.BranchCallInd: EndCallInd, x86.BranchRet: EndRet, x86.BranchSyscall: EndSyscall,
		x86.BranchFar: EndOther, x86.BranchTrap: EndOther, x86.BranchTxn: EndCond,
	}[in.Branch]
}

// keepsUndefined lists the instructions that may leave flags as they were which the
// manual calls undefined, with the flags that they surely write. Treating them
// as written would let translated code differ from native code. op is map<<8 | opcode.
var keepsUndefined = []struct {
	op   uint16
	regs uint8 // bit i: applies to ModRM.reg == i
	sure x86.Flags
}{
	{0x0f6, 1<<4 | 1<<5, x86.CF | x86.OF}, // mul, imul
	{0x0f7, 1<<4 | 1<<5, x86.CF | x86.OF},
	{0x0f6, 1<<6 | 1<<7, 0}, // div, idiv
	{0x0f7, 1<<6 | 1<<7, 0},
	{0x069, 0xff, x86.CF | x86.OF}, // imul
	{0x06b, 0xff, x86.CF | x86.OF},
	{0x1af, 0xff, x86.CF | x86.OF},
	{0x1bc, 0xff, x86.ZF}, // bsf, tzcnt
	{0x1bd, 0xff, x86.ZF}, // bsr, lzcnt
	{0x1a3, 0xff, x86.CF}, // bt, bts, btr, btc
	{0x1ab, 0xff, x86.CF},
	{0x1b3, 0xff, x86.CF},
	{0x1bb, 0xff, x86.CF},
	{0x1ba, 0xff, x86.CF},
	{0x1a4, 0xff, 0}, // shld, shrd
	{0x1a5, 0xff, 0},
	{0x1ac, 0xff, 0},
	{0x1ad, 0xff, 0},
	{0x0c0, 0xff, x86.CF}, // shifts and rotates: OF and AF depend on the count
	{0x0c1, 0xff, x86.CF},
	{0x0d0, 0xff, x86.CF},
	{0x0d1, 0xff, x86.CF},
	{0x0d2, 0xff, 0},
	{0x0d3, 0xff, 0},
}

// surelyWrites returns the status flags that in gives a value that does not depend on their old
// one.
func surelyWrites(in *x86.Inst) x86.Flags {
	if in.CondWrite {
		return 0
	}
	if in.Enc == x86.Legacy {
		key := uint16(in.Map)<<8 | uint16(in.Opcode)
		for i := range keepsUndefined {
			k := &keepsUndefined[i]
			if k.op == key && k.regs>>(in.ModRM>>3&7)&1 == 1 {
				return k.sure & in.FlagsWrite
			}
		}
	}
	return in.FlagsWrite
}
