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
func (m *memory) ahead(regs *unix.PtraceRegs, w want) (list []step) {
	x := newWay(m, regs)
	for i := range mostLooked {
		in, ok := m.instruction(x.pc)
		if !ok || len(list) == mostSkipped || len(list) == 0 && i == mostBefore {
			break
		}
		for i := range min(x.accessing(&in, w), mostSkipped-len(list)) {
			list = append(list, step{x.pc, i})
		}
		if !x.step(&in, len(list) == 0) {
			break
		}
	}
	return list
}

// step is an access on the way: of the instruction at pc, which is repeated, so many of its accesses
// further on.
type step struct {
	pc   uint64
	skip int
}

// accessing is how many accesses of a kind an instruction has, whatever their addresses.
func (x *way) accessing(in *x86.Inst, w want) int {
	if _, ok := choose(in, &unix.PtraceRegs{Rcx: 1}, w, 0); !ok {
		return 0
	}
	if in.Rep == 0 || compares(in) {
		return 1
	}
	regs := &unix.PtraceRegs{Rcx: x.reg[x86.RCX].v, Rsi: x.reg[x86.RSI].v, Rdi: x.reg[x86.RDI].v, Eflags: x.down.v}
	if !x.reg[x86.RCX].ok {
		return 1
	}
	for _, o := range operands(in, regs) {
		if w.stores && o.writes || w.loads && o.reads {
			return o.blocks()
		}
	}
	return 0
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
