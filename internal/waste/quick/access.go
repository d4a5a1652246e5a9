package quick

import (
	"unsafe"

	"lime/internal/waste"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// access is an op on its way.
type access struct {
	*emitter
	op      *Op
	k       int
	off     int32  // of its words, from the block's
	record  int32  // of its context's record, from the block's first
	changed uint64 // where a store that changes something begins
}

// The widths of shadow that are handled at once.
const (
	cellBytes = 4
	pairBytes = 8 // of memory, as two cells
	pageBytes = 4096
)

// out leaves the op to the detector if a condition holds.
func (x *access) out(cond byte) { x.outs[x.k] = append(x.outs[x.k], x.JccFar(cond)) }

func (x *access) outAlways() {
	x.outs[x.k] = append(x.outs[x.k], x.jmpFar())
}

// silentLoads reports whether loads are looked at.
func (x *access) silentLoads() bool { return x.c.kinds.Has(waste.SilentLoad) }

func (x *access) deadStores() bool { return x.c.kinds.Has(waste.DeadStore) }

func (x *access) silentStores() bool { return x.c.kinds.Has(waste.SilentStore) }

// emit emits what finds the access's shadow, and what it does there. What is not of whole cells is
// left to the detector.
func (x *access) emit() {
	switch x.op.Bytes {
	case 1, 2:
		x.narrow()
		return
	case cellBytes, pairBytes, 2 * pairBytes, 4 * pairBytes, 8 * pairBytes:
	default:
		x.outAlways()
		return
	}
	x.shadow()
	if x.op.Store {
		x.store()
	} else {
		x.load()
	}
}

// pairs is how many pairs of cells the access has, at least one.
func (x *access) pairs() int32 { return max(x.op.Bytes/pairBytes, 1) }

// shadow finds the cells of the access.
func (x *access) shadow() {
	var chunk waste.Chunk
	x.Load(x86.RAX, enc.At(regLog, x.off))
	x.TestByte(x86.RAX, byte(x.op.Bytes-1))
	if x.op.Bytes <= pairBytes {
		x.out(enc.CondNE)
	} else {
		x.awayBack(enc.CondNE, x.unaligned)
	}
	inChunk(x.Table)
	cells := unsafe.Offsetof(chunk.Cells)
	x.Load(x86.RDX, indexed(regStores, cells))
	last := x86.RDX
	if x.silentLoads() {
		last = x86.RDI
		x.Load(last, indexed(regLoads, cells))
	}
	x.Test(last, last)
	x.out(enc.CondE)
	x.touch()
}

// unaligned goes back if an access is of whole cells of one page.
func (x *access) unaligned(back uint64) {
	x.TestByte(x86.RAX, cellBytes-1)
	x.out(enc.CondNE)
	x.Lea(x86.R10, enc.At(x86.RAX, x.op.Bytes-1))
	x.Xor(x86.R10, x86.RAX)
	x.CmpImm(x86.R10, pageBytes)
	x.Jcc(enc.CondB, back)
	x.outAlways()
}

// chunkShift is the binary logarithm of waste.ChunkSize.
const chunkShift = 5

var _ [0]struct{} = [waste.ChunkSize - 1<<chunkShift]struct{}{}

// inChunk makes RCX the place of the row of the address in RAX, from the start of a table.
func inChunk(a enc.Table) {
	a.Mov(x86.RCX, x86.RAX)
	a.Shr(x86.RCX, waste.ChunkShift-chunkShift)
	a.AndShort(x86.RCX, -1<<chunkShift)
}

// indexed is a field of that row.
func indexed(table x86.Reg, off uintptr) enc.Mem {
	return enc.Mem{Base: table, Index: x86.RCX, Scale: 1, Disp: int32(off)}
}

// cells is the n-th pair of the access's cells for stores (RDX) or loads (RDI).
func cells(of x86.Reg, n int32) enc.Mem {
	return enc.Mem{Base: x86.RAX, Index: of, Scale: 1, Disp: pairBytes * n}
}

// get loads a pair of cells, or the only one.
func (x *access) get(r x86.Reg, m enc.Mem) {
	if x.op.Bytes == cellBytes {
		x.Load32(r, m)
		return
	}
	x.Load(r, m)
}

// set stores them all.
func (x *access) set(of, r x86.Reg) {
	for n := range x.pairs() {
		if x.op.Bytes == cellBytes {
			x.Store32(cells(of, n), r)
		} else {
			x.Store(cells(of, n), r)
		}
	}
}

// alike leaves the op if not all pairs are like the first, in r.
func (x *access) alike(of, r x86.Reg) {
	for n := int32(1); n < x.pairs(); n++ {
		x.CmpReg(r, cells(of, n))
		x.out(enc.CondNE)
	}
}

func (x *access) me() enc.Mem { return enc.At(regRecord, x.record+int32(waste.RecordMe)) }

// key and left are the fields of one of the pairs of a kind that are counted here.
func (x *access) key(k waste.Kind, way int) enc.Mem {
	return enc.At(regRecord, x.record+int32(waste.RecordKey(k, way)))
}

func (x *access) left(k waste.Kind, way int) enc.Mem {
	return enc.At(regRecord, x.record+int32(waste.RecordKey(k, way)+waste.RecordLeft))
}

// find makes slot the address of the pair whose cells are like r, and leaves the op if there is
// none, or if the next one is to be told.
func (x *access) find(k waste.Kind, r, slot x86.Reg) {
	x.Lea(slot, x.key(k, 0))
	x.CmpReg(r, enc.At(slot, 0))
	x.awayBack(enc.CondNE, func(back uint64) {
		for way := 1; way < waste.Ways; way++ {
			x.Lea(slot, x.key(k, way))
			x.CmpReg(r, enc.At(slot, 0))
			x.Jcc(enc.CondE, back)
		}
		x.spilled(k, r, slot, back)
	})
	x.Cmp32(enc.At(slot, int32(waste.RecordLeft)), 0)
	x.out(enc.CondE)
}

// count counts one more of the pair that was found.
func (x *access) count(slot x86.Reg) { x.Dec32(enc.At(slot, int32(waste.RecordLeft))) }

// load emits what a load does: the stores that it reads are marked, and the last load is looked at.
func (x *access) load() {
	if x.deadStores() {
		x.get(x86.R10, cells(x86.RDX, 0))
		for n := int32(1); n < x.pairs(); n++ {
			x.OrMem(x86.R10, cells(x86.RDX, n))
		}
		x.Test(x86.R10, regMarks)
		x.awayBack(enc.CondNE, func(back uint64) {
			x.mark()
			x.Jmp(back)
		})
	}
	if !x.silentLoads() {
		return
	}
	x.get(x86.R10, cells(x86.RDI, 0))
	x.alike(x86.RDI, x86.R10)
	x.CmpReg(x86.R10, x.key(waste.SilentLoad, 0))
	other := x.JccFar(enc.CondNE)
	x.Dec32Borrow(x.left(waste.SilentLoad, 0))
	none := x.JccFar(enc.CondB)
	x.Load(x86.R11, x.me())
	put := x.Here()
	x.set(x86.RDI, x86.R11)
	x.later = append(x.later, func() {
		x.BindFar(none)
		x.Inc32(x.left(waste.SilentLoad, 0))
		x.BindFar(other)
		x.Test(x86.R10, x86.R10)
		x.away(enc.CondE, func() { x.first(put) })
		x.find(waste.SilentLoad, x86.R10, x86.R11)
		x.count(x86.R11)
		x.Load(x86.R11, x.me())
		x.Jmp(put)
	})
}

// mark notes that all stores are read that the access's cells tell of; R10 has them all.
func (x *access) mark() {
	var s state
	x.Mov(x86.R11, x86.R10)
	x.AndMem(x86.R11, field(unsafe.Offsetof(s.mixed)))
	x.out(enc.CondNE)
	for n := range x.pairs() {
		if x.pairs() > 1 {
			x.Load(x86.R10, cells(x86.RDX, n))
		}
		x.AndMem(x86.R10, field(unsafe.Offsetof(s.read)))
		if x.op.Bytes == cellBytes {
			x.Store32(cells(x86.RDX, n), x86.R10)
		} else {
			x.Store(cells(x86.RDX, n), x86.R10)
		}
	}
}

// first is a load of what the thread has not loaded since it was changed. The lines must have the
// thread's tag already.
func (x *access) first(put uint64) {
	x.tags(func() {
		x.CmpReg(x86.R11, x.tag())
		own := x.JccFar(enc.CondE)
		x.CmpImm32(x86.R11, waste.Several)
		x.out(enc.CondNE)
		x.BindFar(own)
	})
	x.Load(x86.R11, x.me())
	x.Jmp(put)
}

func (x *access) tag() enc.Mem {
	var s state
	return field(unsafe.Offsetof(s.tag))
}

// lineTag loads the tag of the line of the access's byte of a number into R11. R10 is lost.
func lineTag(a enc.Table, n int32) {
	var chunk waste.Chunk
	a.Lea(x86.R10, enc.At(x86.RAX, n))
	a.Shr(x86.R10, waste.LineShift)
	a.Load(x86.R11, indexed(regStores, unsafe.Offsetof(chunk.Tags)))
	a.LoadZX(x86.R11, enc.Mem{Base: x86.R11, Index: x86.R10, Scale: 2}, 2)
}

// tags has the tags of all its lines looked at, in R11.
func (x *access) tags(look func()) {
	lineTag(x.Table, 0)
	look()
	if x.op.Bytes > pairBytes {
		lineTag(x.Table, x.op.Bytes-1)
		look()
	}
}

// store emits what a store does.
func (x *access) store() {
	if x.op.Values == 0 || !x.silentLoads() && !x.silentStores() {
		x.change()
		return
	}
	if !x.comparable() {
		return
	}
	var differ []int
	for n := range x.op.Values {
		before := x.off + 8 + 8*n
		after := before + 8*x.op.Values
		x.Load(x86.R10, enc.At(regLog, before))
		x.CmpReg(x86.R10, enc.At(regLog, after))
		if x.op.Elem == waste.Float64 {
			x.awayBack(enc.CondNE, func(back uint64) { x.near(before, after, back) })
		} else {
			differ = append(differ, x.JccFar(enc.CondNE))
		}
	}
	x.repeat()
	over := x.jmpFar()
	for _, at := range differ {
		x.BindFar(at)
	}
	x.changed = x.Here()
	x.change()
	x.BindFar(over)
}

// comparable reports whether the code can tell whether a store changes anything; if not, it emits
// that the op is left unless nothing is changed, to the bit.
func (x *access) comparable() bool {
	if x.op.Elem == waste.Bytes || x.op.Elem == waste.Float64 {
		return true
	}
	for n := range x.op.Values {
		before := x.off + 8 + 8*n
		x.Load(x86.R10, enc.At(regLog, before))
		x.CmpReg(x86.R10, enc.At(regLog, before+8*x.op.Values))
		x.out(enc.CondNE)
	}
	x.repeat()
	return false
}

// change is a store that changes something: no thread has loaded there since.
func (x *access) change() {
	if x.silentLoads() {
		x.tags(func() {
			x.Test(x86.R11, x86.R11)
			free := x.JccFar(enc.CondE)
			x.CmpReg(x86.R11, x.tag())
			x.out(enc.CondNE)
			x.BindFar(free)
		})
		x.Zero(x86.R11)
		x.set(x86.RDI, x86.R11)
	}
	x.over(false)
}

// repeat is a store that changes nothing.
func (x *access) repeat() { x.over(x.silentStores()) }

// over looks at the last store, and puts the access in its place.
func (x *access) over(silent bool) {
	if !x.deadStores() && !x.silentStores() {
		return
	}
	if x.deadStores() || silent {
		x.get(x86.R10, cells(x86.RDX, 0))
		x.alike(x86.RDX, x86.R10)
		x.last(silent)
	}
	x.Load(x86.R11, x.me())
	if x.deadStores() {
		x.Or(x86.R11, regFresh)
	}
	x.set(x86.RDX, x86.R11)
}

// last counts what the last store tells, which R10 has of all cells: that it is dead if it is
// marked, and that it is repeated.
func (x *access) last(silent bool) {
	if !silent {
		x.Test(x86.R10, regMarks)
		seen := x.JccFar(enc.CondE)
		x.find(waste.DeadStore, x86.R10, x86.R11)
		x.count(x86.R11)
		x.BindFar(seen)
		return
	}
	x.Test(x86.R10, x86.R10)
	empty := x.JccFar(enc.CondE)
	var s state
	x.Mov(x86.R11, x86.R10)
	x.AndMem(x86.R11, field(unsafe.Offsetof(s.read)))
	x.find(waste.SilentStore, x86.R11, x86.RDI)
	if x.deadStores() {
		x.Test(x86.R10, regMarks)
		seen := x.JccFar(enc.CondE)
		x.find(waste.DeadStore, x86.R10, x86.R11)
		x.count(x86.R11)
		x.BindFar(seen)
	}
	x.count(x86.RDI)
	x.BindFar(empty)
}
