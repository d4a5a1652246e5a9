package quick

import (
	"unsafe"

	"lime/internal/waste"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// Registers of the code. RAX holds the address of an access, RCX where in the tables its chunk's
// row is, RDX and RDI what leads from the address to its cells for stores and for loads. R10 and
// R11 are free for all.
const (
	regLog    = x86.RSI // the block's word
	regRecord = x86.RBX // of the block's first context
	regStores = x86.R8
	regLoads  = x86.R9
	regRows   = x86.R12
	regMarks  = x86.R13 // two cells with all marks
	regFresh  = x86.R14 // two cells with the mark of a store, if any
	regState  = x86.R15
)

// fixed is where code stands that belongs to no block.
type fixed struct {
	enter   uintptr // loads the registers, and goes where the state says
	next    uintptr // goes to the block of the word in the log
	unknown uintptr // leaves: no block's word
	leave   [Rest + 1]uintptr
	narrow  narrowCode
	spilled uintptr
	place   uintptr
	touch   map[bool]uintptr // by whether it is a store
}

func field(off uintptr) enc.Mem { return enc.At(regState, int32(off)) }

func (c *Code) emitFixed() {
	a := enc.Table{Asm: &enc.Asm{PC: c.here()}}
	var s state
	c.at.enter = uintptr(a.Here())
	for _, x := range [...]struct {
		r   x86.Reg
		off uintptr
	}{
		{regLog, unsafe.Offsetof(s.log)}, {regRecord, unsafe.Offsetof(s.record)}, {regStores, unsafe.Offsetof(s.stores)},
		{regLoads, unsafe.Offsetof(s.loads)}, {regRows, unsafe.Offsetof(s.rows)}, {regMarks, unsafe.Offsetof(s.clean)},
		{regFresh, unsafe.Offsetof(s.fresh)},
	} {
		a.Load(x.r, field(x.off))
	}
	loadNumbers(a)
	a.JmpMem(field(unsafe.Offsetof(s.target)))
	for why := range c.at.leave {
		c.at.leave[why] = uintptr(a.Here())
		a.Store(field(unsafe.Offsetof(s.log)), regLog)
		a.Store(field(unsafe.Offsetof(s.record)), regRecord)
		a.StoreImm(field(unsafe.Offsetof(s.why)), int32(why))
		a.Ret()
	}
	c.at.unknown = c.at.leave[Unknown]
	c.at.next = uintptr(a.Here())
	c.next(a)
	c.emitSpilled(a)
	c.emitPlace(a)
	c.at.touch = map[bool]uintptr{false: c.emitTouch(a, false), true: c.emitTouch(a, true)}
	c.emitNarrow(a)
	c.put(a)
	c.fixed = c.used
}

// next goes to the block whose word regLog points to.
func (c *Code) next(a enc.Table) {
	var s state
	a.Load(x86.RAX, enc.At(regLog, 0))
	a.CmpReg(x86.RAX, field(unsafe.Offsetof(s.blocks)))
	a.Jcc(enc.CondAE, uint64(c.at.unknown))
	a.Shl(x86.RAX, rowShift)
	a.JmpMem(enc.Mem{Base: regRows, Index: x86.RAX, Scale: 1})
}

// emitter is the code of one block on its way.
type emitter struct {
	enc.Table
	c     *Code
	b     *block
	row   int32  // where its row stands in the table
	loop  uint64 // behind the search for its contexts
	later []func()
	outs  [][]int // by op: branches to where it is left to the detector
}

// awayBack is away with the place behind the branch.
func (e *emitter) awayBack(cond byte, f func(back uint64)) {
	var back uint64
	e.away(cond, func() { f(back) })
	back = e.Here()
}

func (e *emitter) jmpFar() int {
	e.Jmp(e.Here())
	return len(e.Code)
}

// emit makes the code of a block.
func (c *Code) emit(id int) {
	e := &emitter{Table: enc.Table{Asm: &enc.Asm{PC: c.here()}}, c: c, b: &c.blocks[id], row: int32(id) << rowShift}
	e.outs = make([][]int, len(e.b.Ops))
	e.head()
	word, context := 1, 0
	for k := range e.b.Ops {
		o := &e.b.Ops[k]
		e.b.resume = append(e.b.resume, uintptr(e.Here()))
		e.b.offs, e.b.ctx = append(e.b.offs, word-1), append(e.b.ctx, context)
		x := access{emitter: e, op: o, k: k, off: int32(8 * word), record: int32(context) * int32(waste.RecordSize)}
		x.emit()
		word += o.words()
		context += o.contexts()
	}
	e.b.resume = append(e.b.resume, uintptr(e.Here()))
	e.tail(int32(8 * word))
	for len(e.later) > 0 { // they may add others
		f := e.later[0]
		e.later = e.later[1:]
		f()
	}
	e.leaveOps()
	c.put(e.Table)
	c.rows[id].code = uintptr(e.PC)
}

// away emits code behind the block's for the case that a condition holds.
func (e *emitter) away(cond byte, f func()) {
	at := e.JccFar(cond)
	e.later = append(e.later, func() {
		e.BindFar(at)
		f()
	})
}

// head finds the block's contexts, and counts its bytes.
func (e *emitter) head() {
	var s state
	var p onPath
	if e.b.Contexts > 0 || e.b.Tail == Call {
		e.Load(x86.RAX, field(unsafe.Offsetof(s.path)))
		e.CmpReg(x86.RAX, e.field(rowOnPath+int32(unsafe.Offsetof(p.path))))
		e.awayBack(enc.CondNE, func(back uint64) {
			e.Lea(x86.R11, e.field(0))
			e.Call(uint64(e.c.at.place))
			e.Jcc(enc.CondE, back)
			e.leave(Place)
		})
		e.Load(regRecord, e.field(rowOnPath+int32(unsafe.Offsetof(p.record))))
	}
	e.loop = e.Here()
	if e.b.loaded > 0 {
		e.Add(field(unsafe.Offsetof(s.loaded)), e.b.loaded)
	}
	if e.b.stored > 0 {
		e.Add(field(unsafe.Offsetof(s.stored)), e.b.stored)
	}
}

// field is a field of the block's row.
func (e *emitter) field(off int32) enc.Mem { return enc.At(regRows, e.row+off) }

// tail does what comes behind the ops; the next word of the log is at off.
func (e *emitter) tail(off int32) {
	size := off
	switch e.b.Tail {
	case Other:
		e.leave(Rest)
		return
	case Call:
		e.call(off)
		return
	case Return:
		e.ret(off)
		size += 8
	}
	e.onward(size)
}

func (e *emitter) leave(why Why) { e.Jmp(uint64(e.c.at.leave[why])) }

// onward goes to the next block.
func (e *emitter) onward(size int32) {
	e.AddImm(regLog, size)
	if e.b.Tail == Nothing { // once more the same: so are path and record
		e.Cmp(enc.At(regLog, 0), e.row>>rowShift)
		e.Jcc(enc.CondE, e.loop)
	}
	e.c.next(e.Table)
}

// leaveOps emits how ops are left to the detector.
func (e *emitter) leaveOps() {
	var s state
	for k, outs := range e.outs {
		if len(outs) == 0 {
			continue
		}
		for _, at := range outs {
			e.BindFar(at)
		}
		e.StoreImm(field(unsafe.Offsetof(s.op)), int32(k))
		e.leave(atOp)
	}
}
