package quick

import (
	"unsafe"

	"lime/internal/waste"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// Where threads run beside each other, every access first looks who has touched its line last
// (waste.Order): mostly the thread itself in this chunk of its run. Code that all share
// looks at the rest, and leaves to the detector what may be a dispute.

// emitTouch emits that code. R11 points to the line's word; ZF is clear if the detector is to
// decide. R10 and R11 are lost.
func (c *Code) emitTouch(a enc.Table, store bool) uintptr {
	var s state
	at := a.Here()
	touch, stored := field(unsafe.Offsetof(s.touch)), field(unsafe.Offsetof(s.touchStored))
	a.Push(x86.RBP)
	a.Load(x86.R10, enc.At(x86.R11, 0))
	a.CmpReg(x86.R10, field(unsafe.Offsetof(s.low)))
	before := a.JccFar(enc.CondB)
	a.Load(x86.RBP, touch)
	a.Xor(x86.RBP, x86.R10)
	a.TestImm32(x86.RBP, waste.TouchThread)
	other := a.JccFar(enc.CondNE)
	if store {
		a.BindFar(before)
		a.Load(x86.R10, stored)
	} else { // what it has stored there itself stays noted
		a.TestImm32(x86.R10, waste.TouchStored)
		a.Load(x86.R10, stored)
		kept := a.JccFar(enc.CondNE)
		a.BindFar(before)
		a.Load(x86.R10, touch)
		a.BindFar(kept)
	}
	put := a.Here()
	a.Store(enc.At(x86.R11, 0), x86.R10)
	a.Pop(x86.RBP)
	a.Xor(x86.R11, x86.R11)
	a.Ret()
	a.BindFar(other)
	if !store {
		a.TestImm32(x86.R10, waste.TouchStored)
		a.Load(x86.R10, field(unsafe.Offsetof(s.together)))
		a.Jcc(enc.CondE, put)
	}
	a.Pop(x86.RBP)
	a.Test(x86.RSP, x86.RSP)
	a.Ret()
	return uintptr(at)
}

// look emits the look at the line of the n-th byte of an access, whose row is at RCX. Where
// it is not the thread's own in this chunk, which a condition tells, other emits what to do.
func (c *Code) look(a enc.Table, n int32, store bool, other func(cond byte)) {
	var s state
	var chunk waste.Chunk
	a.Lea(x86.R10, enc.At(x86.RAX, n))
	a.Shr(x86.R10, waste.LineShift)
	a.Load(x86.R11, indexed(regStores, unsafe.Offsetof(chunk.Touches)))
	a.Lea(x86.R11, enc.Mem{Base: x86.R11, Index: x86.R10, Scale: 8})
	a.Load(x86.R10, enc.At(x86.R11, 0))
	a.CmpReg(x86.R10, field(unsafe.Offsetof(s.touchStored)))
	if store {
		other(enc.CondNE)
		return
	}
	own := a.JccFar(enc.CondE)
	a.CmpReg(x86.R10, field(unsafe.Offsetof(s.touch)))
	other(enc.CondNE)
	a.BindFar(own)
}

// touch looks at the lines of the access.
func (x *access) touch() {
	if !x.c.d.Order.Beside {
		return
	}
	x.touchAt(0)
	if x.op.Bytes > pairBytes {
		x.touchAt(x.op.Bytes - 1)
	}
}

// touchAt looks at the line of one of its bytes.
func (x *access) touchAt(n int32) {
	x.c.look(x.Table, n, x.op.Store, func(cond byte) {
		x.awayBack(cond, func(back uint64) {
			x.Call(uint64(x.c.at.touch[x.op.Store]))
			x.Jcc(enc.CondE, back)
			x.outAlways()
		})
	})
}

// touch does so for a narrow one.
func (w *narrow) touch(store bool) {
	if !w.c.d.Order.Beside {
		return
	}
	w.Push(x86.R11)
	w.c.look(w.Table, 0, store, func(cond byte) {
		own := w.JccFar(cond ^ 1)
		w.Call(uint64(w.c.at.touch[store]))
		w.BindFar(own)
	})
	w.Pop(x86.R11)
	w.fail(enc.CondNE)
}
