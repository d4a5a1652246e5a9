// Package reason tells why memory work is wasted, by rules over the instructions of a pair. Where none
// fits, nothing is said. It imports waste and x86 only.
package reason

import (
	"lime/internal/waste"
	"lime/internal/x86"
)

// Traits are what an instruction tells of an access.
type Traits uint8

// The traits.
const (
	InFrame  Traits = 1 << iota // at a fixed place of a function's frame
	Constant                    // it stores what does not depend on anything
	Compared                    // what it loads decides over a branch that ends the block
)

// Access is one of an instruction.
type Access struct {
	Base, Index x86.Reg
	Read, Write bool
}

// Of looks at instruction i of a block, which has an access, and at those around it; cond: the block
// ends with a branch that is taken or not.
func Of(insts []x86.Inst, i int, acc Access, cond bool) (t Traits) {
	in := &insts[i]
	address := regs(acc.Base) | regs(acc.Index)
	if acc.Index == x86.NoReg && (acc.Base == x86.RSP || acc.Base == x86.RBP) {
		t |= InFrame
	}
	immediate := in.Name == "mov" && in.ImmLen > 0
	if acc.Write && (immediate || in.VecReads != 0 && in.Reads&^address == 0 && cleared(insts[:i], in.VecReads)) {
		t |= Constant
	}
	if acc.Read && !acc.Write && cond && compares(insts, i) {
		t |= Compared
	}
	return t
}

func regs(r x86.Reg) (s x86.RegSet) {
	if r < 16 {
		s = s.With(r)
	}
	return s
}

// cleared reports whether a vector register was made zero by the last instruction that wrote it.
func cleared(insts []x86.Inst, reg uint32) bool {
	for i := len(insts) - 1; i >= 0; i-- {
		if in := &insts[i]; in.VecWrites&reg != 0 {
			return clears(in)
		}
	}
	return false
}

// compares reports whether instruction i compares what it loads, or the last comparison behind it
// does.
func compares(insts []x86.Inst, i int) bool {
	comparing := func(in *x86.Inst) bool { return in.Name == "cmp" || in.Name == "test" }
	if comparing(&insts[i]) {
		return true
	}
	got := insts[i].Writes
	for k := i + 1; k < len(insts); k++ {
		if comparing(&insts[k]) && insts[k].Reads&got != 0 {
			return true
		}
		got &^= insts[k].Writes
	}
	return false
}

// Pair is what is known of two accesses that waste memory work together.
type Pair struct {
	Kind          waste.Kind
	Again         bool // one instruction makes both
	First, Second Traits
	Fixed         bool // always at one address, of a variable or of the heap
	Several       bool // seen at several addresses: where it was seen once, it is neither
	Stack         bool // always on the thread's own stack
	Recomputed    bool // what the second stores was computed from what its block has loaded, again and unchanged
}

// Word names the reason by the first rule that fits, "" if none does; report has the words.
func (p *Pair) Word() string {
	switch p.Kind {
	case waste.DeadStore:
		switch {
		case p.First&Constant != 0 && !p.Again:
			return "initialisation"
		case p.Again && p.Fixed:
			return "running-value"
		}
	case waste.SilentStore:
		switch {
		case p.Again && p.Second&Constant != 0:
			return "invariant-store"
		case p.Again && p.Recomputed:
			return "recomputation"
		}
	case waste.SilentLoad:
		switch {
		case p.First&p.Second&InFrame != 0 && p.Stack:
			return "spill"
		case p.Again && p.Fixed:
			return "invariant-load"
		case p.Again && p.Several && p.Second&Compared != 0:
			return "search"
		}
	}
	return ""
}
