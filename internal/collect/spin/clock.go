package spin

import (
	"maps"
	"slices"

	"lime/internal/x86"
)

// Loops that read the clock (doc.go, The clock).

// Numbers of the system calls that only tell the time (syscall_64.tbl).
const (
	gettimeofday, timeOfDay, clockGettime = 96, 201, 228
)

// TellsTime reports whether a system call does nothing but tell the time.
func TellsTime(number uint64) bool {
	words, _ := timeWords(number)
	return words > 0
}

// timeWords is how many words such a call leaves, and at the address in which register: seconds, and
// what is behind the point.
func timeWords(number uint64) (int, x86.Reg) {
	switch number {
	case gettimeofday:
		return 2, x86.RDI
	case timeOfDay:
		return 1, x86.RDI
	case clockGettime:
		return 2, x86.RSI
	}
	return 0, x86.NoReg
}

// ReadsTicks recognises the instructions that read the time-stamp counter.
func ReadsTicks(in *x86.Inst) bool {
	return in.Special == x86.SpecialRDTSC || in.Special == x86.SpecialRDTSCP
}

// run follows one instruction, as the walker does. What a system call leaves of the time goes before
// it, as stores of their own.
func (f *Follower) run(in *x86.Inst, pc uint64) bool {
	calls := in.Branch == x86.BranchSyscall
	number, _ := f.w.destination(in)
	calls = calls && TellsTime(number)
	if calls && !f.leavesTime(in, pc, number) {
		return false
	}
	x, ok := f.w.run(in, pc)
	x.clock = calls || ReadsTicks(in)
	f.execs = append(f.execs, x)
	return ok && !f.moved.sees(&x) && f.chains.next(in)
}

// leavesTime follows the words that a system call stores, which must be on the thread's own stack.
func (f *Follower) leavesTime(in *x86.Inst, pc, number uint64) bool {
	words, r := timeWords(number)
	at, known := f.w.reg(r)
	if !known {
		return false
	}
	for ; words > 0 && at != 0; words-- {
		p := place{at, 8}
		if !f.w.ownStack(p) {
			return false
		}
		f.w.stored = append(f.w.stored, held{at: p})
		f.execs = append(f.execs, exec{pc: pc, in: &x86.Inst{Opcode: nop, Len: in.Len}, stores: p, clock: true})
		at += 8
	}
	return true
}

// nop is an instruction that does nothing (Intel SDM vol. 2).
const nop = 0x90

// readsClock reports whether a round does: then it is no state that repeats, though the clock may not
// have moved on.
func readsClock(execs []exec) bool {
	return slices.ContainsFunc(execs, func(x exec) bool { return x.clock })
}

// ofClock is the registers and the places on the stack that hold what is of the clock only.
type ofClock struct {
	regs    x86.RegSet
	vectors uint32
	places  map[place]bool
}

func (c *counting) ofClock() ofClock {
	return ofClock{c.clocked, c.vectors.clocked, maps.Clone(c.clockAt)}
}

// settled reports whether all that was of the clock at the loop's head is so again: then it is in
// every round.
func (c *counting) settled(o ofClock) bool {
	for p, is := range o.places {
		if is && c.dirty[p] && !c.clockAt[p] {
			return false
		}
	}
	return o.regs&^c.clocked&c.tainted == 0 && o.vectors&^c.vectors.clocked&c.vectors.tainted == 0
}
