package quick

import (
	"unsafe"

	"lime/internal/waste"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// Pairs that have no room at their context stand in a table of the detector's.

// ownerShift is the binary logarithm of the bytes of a recurrence.
const ownerShift = 4

// emitSpilled emits the code that looks there: for what R10 says, and the pairs of a kind at a
// context whose first key R11 points to. R11 becomes the address of the pair; ZF is clear if there
// is none.
func (c *Code) emitSpilled(a enc.Table) {
	var s state
	c.at.spilled = uintptr(a.Here())
	a.Push(x86.RBP)
	a.Push(x86.RAX)
	a.Mov32(x86.RBP, x86.R10)
	a.MulImm(x86.RBP, waste.SpillFactor)
	a.Mov(x86.RAX, x86.R11)
	a.Shr(x86.RAX, ownerShift)
	a.Lea(x86.RBP, enc.Mem{Base: x86.RBP, Index: x86.RAX, Scale: 1})
	a.Pop(x86.RAX)
	a.AndImm(x86.RBP, 1<<waste.SpillShift-1)
	a.MulImm(x86.RBP, int32(waste.SpillSize))
	a.AddMem(x86.RBP, field(unsafe.Offsetof(s.spills)))
	a.CmpReg(x86.R10, enc.At(x86.RBP, 0))
	other := a.JccFar(enc.CondNE)
	a.CmpReg(x86.R11, enc.At(x86.RBP, int32(waste.SpillOwner)))
	a.Mov(x86.R11, x86.RBP)
	a.BindFar(other)
	a.Pop(x86.RBP)
	a.Ret()
}

// spilled looks for what r says there, and goes back with the pair's address in slot, or leaves the
// op. R11 is lost.
func (x *access) spilled(k waste.Kind, r, slot x86.Reg, back uint64) {
	x.Push(x86.R10)
	if r != x86.R10 {
		x.Mov(x86.R10, r)
	}
	x.Lea(x86.R11, x.key(k, 0))
	x.Call(uint64(x.c.at.spilled))
	x.Pop(x86.R10)
	if slot != x86.R11 {
		x.Mov(slot, x86.R11)
	}
	x.Jcc(enc.CondE, back)
	x.outAlways()
}

// spilled looks there for what RBP says; ZF is clear if it is not there. R10 is lost.
func (w *narrow) spilled(k waste.Kind, slot x86.Reg) {
	w.Push(x86.R11)
	w.Mov(x86.R10, x86.RBP)
	w.Lea(x86.R11, enc.At(x86.R11, int32(waste.RecordKey(k, 0))))
	w.Call(uint64(w.c.at.spilled))
	w.Mov(slot, x86.R11)
	w.Pop(x86.R11)
}
