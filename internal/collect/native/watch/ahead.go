package watch

// The way that a thread takes next.

import (
	"golang.org/x/sys/unix"

	"lime/internal/x86"
)

// ahead lists the next instructions with an access of the wanted kind, if the first of them is
// near: or accesses would be charged with the time of code before them that has none. Where the way
// hangs on what is not known it ends, or, with none found yet, goes on as is likely: loops go round,
// branches forward are not taken.
func (m *memory) ahead(regs *unix.PtraceRegs, w want) (list []uint64) {
	x := newWay(m, regs)
	for i := range mostLooked {
		in, ok := m.instruction(x.pc)
		if !ok || len(list) == mostSkipped || len(list) == 0 && i == mostBefore {
			break
		}
		if accessing(&in, w) {
			list = append(list, x.pc)
		}
		if !x.step(&in, len(list) == 0) {
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

// step goes on to the next instruction, if it is known where that is, or may be guessed.
func (x *way) step(in *x86.Inst, guess bool) bool {
	from := x.pc
	o := operation{way: x, in: in, next: from + uint64(in.Len)}
	o.do()
	to := known(o.next)
	switch in.Branch {
	case x86.BranchNone, x86.BranchSyscall:
	case x86.BranchJump, x86.BranchCall:
		to.v = in.Target(from)
	case x86.BranchCond:
		taken, ok := x.holds(in.Cond)
		if !ok {
			taken, to.ok = in.Target(from) <= from, guess
		}
		if taken {
			to.v = in.Target(from)
		}
	case x86.BranchJumpInd, x86.BranchCallInd, x86.BranchRet:
		to = o.target
	default:
		to.ok = false
	}
	x.pc = to.v
	return to.ok
}
