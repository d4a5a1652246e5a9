package quick

import (
	"unsafe"

	"lime/internal/waste"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// Accesses of less than a cell: bytes, and halves of words at even addresses. Their code is shared
// by all blocks. It gets the address in RAX and the context's record in R11, and returns with CF set
// if the op is left to the detector. RBP and RBX are free in it, but restored.

// narrowCode is where it stands, by the binary logarithm of the bytes.
type narrowCode struct{ load, change, repeat [2]uintptr }

func (c *Code) emitNarrow(a enc.Table) {
	for n := range 2 {
		for _, x := range [...]struct {
			at    *uintptr
			store bool
			emit  func(*narrow)
		}{
			{&c.at.narrow.load[n], false, (*narrow).load},
			{&c.at.narrow.change[n], true, (*narrow).change},
			{&c.at.narrow.repeat[n], true, (*narrow).repeat},
		} {
			*x.at = uintptr(a.Here())
			w := &narrow{Table: a, c: c, bytes: 1 << n}
			a.Push(x86.RBP)
			a.Push(x86.RBX)
			w.shadow()
			w.touch(x.store)
			x.emit(w)
			w.leave(0xf8) // clc
			for _, at := range w.fails {
				a.BindFar(at)
			}
			w.leave(0xf9) // stc
		}
	}
}

// narrow is one of these on its way.
type narrow struct {
	enc.Table
	c     *Code
	bytes int32
	fails []int
}

func (w *narrow) leave(flag byte) {
	w.Pop(x86.RBX)
	w.Pop(x86.RBP)
	w.Bytes(flag)
	w.Ret()
}

func (w *narrow) fail(cond byte) { w.fails = append(w.fails, w.JccFar(cond)) }

func (w *narrow) looks(k waste.Kind) bool { return w.c.kinds.Has(k) }

// shadow finds the cells: RBX is the address of their cell's first byte.
func (w *narrow) shadow() {
	var chunk waste.Chunk
	if w.bytes > 1 {
		w.TestByte(x86.RAX, byte(w.bytes-1))
		w.fail(enc.CondNE)
	}
	inChunk(w.Table)
	w.Load(x86.RDX, indexed(regStores, unsafe.Offsetof(chunk.Cells)))
	last := x86.RDX
	if w.looks(waste.SilentLoad) {
		last = x86.RDI
		w.Load(last, indexed(regLoads, unsafe.Offsetof(chunk.Cells)))
	}
	w.Test(last, last)
	w.fail(enc.CondE)
	w.Mov(x86.RBX, x86.RAX)
	w.AndShort64(x86.RBX, -cellBytes)
}

// side is the cells for stores or those for loads.
type side struct{ cells, table x86.Reg }

func stores() side { return side{x86.RDX, regStores} }
func loads() side  { return side{x86.RDI, regLoads} }

func (s side) cell() enc.Mem { return enc.Mem{Base: x86.RBX, Index: s.cells, Scale: 1} }

// word is that of the n-th byte of the access, if R10 has where the words are.
func word(n int32) enc.Mem {
	return enc.Mem{Base: x86.R10, Index: x86.RAX, Scale: cellBytes, Disp: cellBytes * n}
}

func (w *narrow) words(s side) {
	var chunk waste.Chunk
	w.Load(x86.R10, indexed(s.table, unsafe.Offsetof(chunk.Bytes)))
}

// get makes RBP what is known of the access's bytes; if it is not the same of all, it fails.
func (w *narrow) get(s side) {
	w.Load32(x86.RBP, s.cell())
	w.Test32(x86.RBP)
	whole := w.JccFar(enc.CondNS)
	w.words(s)
	w.Load32(x86.RBP, word(0))
	for n := int32(1); n < w.bytes; n++ {
		w.CmpReg32(x86.RBP, word(n))
		w.fail(enc.CondNE)
	}
	w.BindFar(whole)
}

// put sets it to RBP.
func (w *narrow) put(s side) {
	w.Load32(x86.R10, s.cell())
	w.Cmp32Regs(x86.R10, x86.RBP)
	same := w.JccFar(enc.CondE)
	w.Test32(x86.R10)
	mixed := w.JccFar(enc.CondS)
	w.Spread(0, x86.R10)
	w.words(s)
	w.StoreQuad(enc.Mem{Base: x86.R10, Index: x86.RBX, Scale: cellBytes}, 0)
	mark := uint32(waste.Mixed)
	w.StoreImm32(s.cell(), int32(mark))
	w.BindFar(mixed)
	w.words(s)
	for n := range w.bytes {
		w.Store32(word(n), x86.RBP)
	}
	ends := []int{same}
	for n := range int32(cellBytes) { // one by one: wider loads would wait for the stores
		w.CmpReg32(x86.RBP, enc.Mem{Base: x86.R10, Index: x86.RBX, Scale: cellBytes, Disp: cellBytes * n})
		ends = append(ends, w.JccFar(enc.CondNE))
	}
	w.Store32(s.cell(), x86.RBP)
	for _, at := range ends {
		w.BindFar(at)
	}
}

// find makes slot the address of the pair that is counted of what RBP says, or fails: also if the
// next one is to be told.
func (w *narrow) find(k waste.Kind, slot x86.Reg) {
	var found []int
	for way := range waste.Ways {
		w.Lea(slot, enc.At(x86.R11, int32(waste.RecordKey(k, way))))
		w.CmpReg(x86.RBP, enc.At(slot, 0))
		found = append(found, w.JccFar(enc.CondE))
	}
	w.spilled(k, slot)
	w.fail(enc.CondNE)
	for _, at := range found {
		w.BindFar(at)
	}
	w.Cmp32(enc.At(slot, int32(waste.RecordLeft)), 0)
	w.fail(enc.CondE)
}

// count counts one more of it.
func (w *narrow) count(slot x86.Reg) { w.Dec32(enc.At(slot, int32(waste.RecordLeft))) }

func (w *narrow) jmpFar() int {
	w.Jmp(w.Here())
	return len(w.Code)
}

func (w *narrow) load() {
	if w.looks(waste.DeadStore) {
		w.get(stores())
		w.TestImm32(x86.RBP, waste.Fresh)
		seen := w.JccFar(enc.CondE)
		w.AndImm(x86.RBP, ^int32(waste.Fresh))
		w.put(stores())
		w.BindFar(seen)
	}
	if !w.looks(waste.SilentLoad) {
		return
	}
	w.get(loads())
	w.Test32(x86.RBP)
	first := w.JccFar(enc.CondE)
	w.find(waste.SilentLoad, x86.R10)
	w.count(x86.R10)
	counted := w.jmpFar()
	w.BindFar(first)
	w.tag(true)
	w.BindFar(counted)
	w.me()
	w.put(loads())
}

// me makes RBP the context.
func (w *narrow) me() { w.Load32(x86.RBP, enc.At(x86.R11, int32(waste.RecordMe))) }

// tag fails if the line is another thread's, too: for a load that is noted already.
func (w *narrow) tag(load bool) {
	var s state
	w.Mov(x86.RBP, x86.R11)
	lineTag(w.Table, 0)
	w.CmpReg(x86.R11, field(unsafe.Offsetof(s.tag)))
	own := w.JccFar(enc.CondE)
	if load {
		w.CmpImm32(x86.R11, waste.Several)
	} else {
		w.Test(x86.R11, x86.R11)
	}
	w.Mov(x86.R11, x86.RBP)
	w.fail(enc.CondNE)
	w.BindFar(own)
	w.Mov(x86.R11, x86.RBP)
}

// change is a store that changes something.
func (w *narrow) change() {
	if w.looks(waste.SilentLoad) {
		w.tag(false)
		w.Zero(x86.RBP)
		w.put(loads())
	}
	w.over(false)
}

// repeat is one that changes nothing.
func (w *narrow) repeat() { w.over(w.looks(waste.SilentStore)) }

// over looks at the last store, and puts this one in its place.
func (w *narrow) over(silent bool) {
	dead := w.looks(waste.DeadStore)
	if !dead && !w.looks(waste.SilentStore) {
		return
	}
	if dead || silent {
		w.get(stores())
		w.last(dead, silent)
	}
	w.me()
	if dead {
		w.OrImm(x86.RBP, waste.Fresh)
	}
	w.put(stores())
}

// last counts what the last store tells, which RBP has.
func (w *narrow) last(dead, silent bool) {
	w.Test32(x86.RBP)
	empty := w.JccFar(enc.CondE)
	if dead {
		w.Zero(x86.RDI)
		w.TestImm32(x86.RBP, waste.Fresh)
		seen := w.JccFar(enc.CondE)
		w.find(waste.DeadStore, x86.RDI)
		w.BindFar(seen)
	}
	if silent {
		w.AndImm(x86.RBP, ^int32(waste.Fresh))
		w.find(waste.SilentStore, x86.R10)
		w.count(x86.R10)
	}
	if dead {
		w.Test(x86.RDI, x86.RDI)
		not := w.JccFar(enc.CondE)
		w.count(x86.RDI)
		w.BindFar(not)
	}
	w.BindFar(empty)
}

// narrow has the shared code do the op.
func (x *access) narrow() {
	size := 0
	if x.op.Bytes > 1 {
		size = 1
	}
	at := &x.c.at.narrow
	call := func(code uintptr) {
		x.Load(x86.RAX, enc.At(regLog, x.off))
		x.Lea(x86.R11, enc.At(regRecord, x.record))
		x.Call(uint64(code))
		x.out(enc.CondB)
	}
	if !x.op.Store {
		call(at.load[size])
		return
	}
	if x.op.Values == 0 || !x.silentLoads() && !x.silentStores() {
		call(at.change[size])
		return
	}
	x.Load(x86.R10, enc.At(regLog, x.off+8))
	x.CmpReg(x86.R10, enc.At(regLog, x.off+16))
	differ := x.JccFar(enc.CondNE)
	call(at.repeat[size])
	done := x.jmpFar()
	x.BindFar(differ)
	call(at.change[size])
	x.BindFar(done)
}
