package quick

import (
	"unsafe"

	"lime/internal/waste"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// Calls and returns. A call's store of its return address ends what was known there; nobody counts
// it. What does not come at the innermost of the open calls is left to who runs the code.

const frameBytes = int32(unsafe.Sizeof(Frame{}))

// fields of the innermost call; R10 points behind it.
func frameAt() enc.Mem { return enc.At(x86.R10, -frameBytes) }
func framePath() enc.Mem {
	return enc.At(x86.R10, -frameBytes+int32(unsafe.Offsetof(Frame{}.Path)))
}

// restIf leaves the tail to who runs the code.
func (e *emitter) restIf(cond byte) { e.Jcc(cond, uint64(e.c.at.leave[Rest])) }

// call opens a call, the address of whose return address is in the log at off.
func (e *emitter) call(off int32) {
	var s state
	var p onPath
	e.Load(x86.RAX, enc.At(regLog, off))
	e.pushed()
	e.Load(x86.R10, field(unsafe.Offsetof(s.top)))
	e.Mov(x86.R11, x86.RAX)
	e.CmpReg(x86.R11, frameAt())
	e.restIf(enc.CondAE)
	e.CmpReg(x86.R10, field(unsafe.Offsetof(s.end)))
	e.restIf(enc.CondAE)
	e.Store(enc.At(x86.R10, 0), x86.RAX)
	e.Load(x86.R11, field(unsafe.Offsetof(s.path)))
	e.Store(enc.At(x86.R10, int32(unsafe.Offsetof(Frame{}.Path))), x86.R11)
	e.AddImm(x86.R10, frameBytes)
	e.Store(field(unsafe.Offsetof(s.top)), x86.R10)
	e.Load(x86.R11, enc.At(regLog, off+8))
	e.CmpReg(x86.R11, e.field(rowOnPath+int32(unsafe.Offsetof(p.next))))
	e.Jcc(enc.CondNE, uint64(e.c.at.leave[Called]))
	e.Load(x86.R11, e.field(rowOnPath+int32(unsafe.Offsetof(p.to))))
	e.Store(field(unsafe.Offsetof(s.path)), x86.R11)
	e.onward(off + 8)
}

// pushed forgets what was known of the return address's place, which is in RAX.
func (e *emitter) pushed() {
	var chunk waste.Chunk
	e.TestByte(x86.RAX, pairBytes-1)
	e.restIf(enc.CondNE)
	inChunk(e.Table)
	e.Load(x86.RDX, indexed(regStores, unsafe.Offsetof(chunk.Cells)))
	e.Test(x86.RDX, x86.RDX)
	e.restIf(enc.CondE)
	if e.c.kinds.Has(waste.SilentLoad) {
		var s state
		lineTag(e.Table, 0)
		e.Test(x86.R11, x86.R11)
		free := e.JccFar(enc.CondE)
		e.CmpReg(x86.R11, field(unsafe.Offsetof(s.tag)))
		e.restIf(enc.CondNE)
		e.Load(x86.RDI, indexed(regLoads, unsafe.Offsetof(chunk.Cells)))
		e.Test(x86.RDI, x86.RDI)
		e.restIf(enc.CondE)
		e.StoreImm(cells(x86.RDI, 0), 0)
		e.BindFar(free)
	}
	e.StoreImm(cells(x86.RDX, 0), 0)
}

// ret closes the innermost call, if it is the one whose return address is where the log says at off.
func (e *emitter) ret(off int32) {
	var s state
	e.Load(x86.RAX, enc.At(regLog, off))
	e.Load(x86.R10, field(unsafe.Offsetof(s.top)))
	e.CmpReg(x86.RAX, frameAt())
	above := e.JccFar(enc.CondB)
	e.restIf(enc.CondNE)
	e.Load(x86.R11, framePath())
	e.Store(field(unsafe.Offsetof(s.path)), x86.R11)
	e.AddImm(x86.R10, -frameBytes)
	e.Store(field(unsafe.Offsetof(s.top)), x86.R10)
	e.BindFar(above)
}
