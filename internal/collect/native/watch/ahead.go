package watch

// The way that a thread is likely to take.

import (
	"golang.org/x/sys/unix"

	"lime/internal/x86"
)

// way is how far a thread has been followed.
type way struct {
	*memory
	pc    uint64
	calls []uint64 // return addresses of calls on the way
	sp    uint64   // the stack pointer before them
	lost  bool     // sp is not known any more
	frame uint64   // the frame pointer; 0 if it is not known any more
}

// ahead lists the next instructions with an access of the wanted kind on the way that a thread is
// likely to take: loops go round, branches forward are not taken.
func (m *memory) ahead(regs *unix.PtraceRegs, w want) (list []uint64) {
	x := way{memory: m, pc: regs.Rip, sp: regs.Rsp, frame: regs.Rbp}
	for range mostLooked {
		in, ok := m.instruction(x.pc)
		if !ok || len(list) == mostSkipped {
			break
		}
		if accessing(&in, w) {
			list = append(list, x.pc)
		}
		if !x.step(&in) {
			break
		}
	}
	return list
}

// accessing reports whether an instruction has an access of a kind, whatever its address.
func accessing(in *x86.Inst, w want) bool {
	_, ok := choose(in, &unix.PtraceRegs{Rcx: 1}, w)
	return ok
}

// step goes on to the next instruction, if it is known where that is.
func (x *way) step(in *x86.Inst) bool {
	from, next := x.pc, x.pc+uint64(in.Len)
	if len(x.calls) == 0 {
		x.follow(in)
	}
	ok := true
	switch in.Branch {
	case x86.BranchNone, x86.BranchSyscall:
		x.pc = next
	case x86.BranchJump:
		x.pc = in.Target(from)
	case x86.BranchCall:
		x.calls, x.pc = append(x.calls, next), in.Target(from)
	case x86.BranchCond, x86.BranchLoop:
		x.pc = next
		if to := in.Target(from); to <= from {
			x.pc = to
		}
	case x86.BranchJumpInd:
		ok = x.through(in, next)
	case x86.BranchCallInd:
		x.calls = append(x.calls, next)
		ok = x.through(in, next)
	case x86.BranchRet:
		ok = x.back()
	default:
		ok = false
	}
	return ok
}

// through goes where a cell at a fixed place leads, as stubs of libraries do.
func (x *way) through(in *x86.Inst, next uint64) (ok bool) {
	if in.HasMem && in.Mem.Base == x86.RIP && in.Mem.Index == x86.NoReg {
		x.pc, ok = x.read(next+uint64(int64(in.Mem.Disp)), 8)
	}
	return ok
}

// back goes back behind a call.
func (x *way) back() (ok bool) {
	if last := len(x.calls) - 1; last >= 0 {
		x.pc, x.calls = x.calls[last], x.calls[:last]
		return true
	}
	if x.lost {
		return false
	}
	x.pc, ok = x.read(x.sp, 8)
	x.sp += 8
	return ok
}

// follow keeps account of where the stack is.
func (x *way) follow(in *x86.Inst) {
	switch {
	case in.Branch != x86.BranchNone:
	case in.Name == "push":
		x.sp -= 8
	case in.Name == "pop":
		x.sp += 8
	case in.Name == "leave":
		x.sp, x.lost = x.frame+8, x.frame == 0
	case !in.Writes.Has(x86.RSP):
	case in.Name == "add" && in.ImmLen > 0:
		x.sp += uint64(in.Imm)
	case in.Name == "sub" && in.ImmLen > 0:
		x.sp -= uint64(in.Imm)
	case in.Name == "lea" && in.Mem.Base == x86.RSP && in.Mem.Index == x86.NoReg:
		x.sp += uint64(int64(in.Mem.Disp))
	default:
		x.lost = true
	}
	if in.Writes.Has(x86.RBP) {
		x.frame = 0
	}
}
