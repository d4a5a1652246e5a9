package quick

import (
	"unsafe"

	"lime/internal/waste"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// A block that is passed on several call paths by turns finds what its row would say of each in a
// table.

// place is a row as it is on one path, and of which block it is, by its row's address.
type place struct {
	onPath
	row uintptr
	_   [3]uint64
}

const (
	placeShift  = 14 // binary logarithm of how many places there are
	placeSize   = 6  // of the bytes of each
	placeFactor = 81
)

var _ [0]struct{} = [unsafe.Sizeof(place{}) - 1<<placeSize]struct{}{}

// placeOf is the place of a block's row on a path.
func (c *Code) placeOf(r *row, path uint64) *place {
	at := uintptr(unsafe.Pointer(r))
	return &c.places[(uintptr(path)*placeFactor+at>>rowShift)%(1<<placeShift)]
}

// keep notes what a row says.
func (c *Code) keep(r *row) {
	*c.placeOf(r, r.path) = place{onPath: r.onPath, row: uintptr(unsafe.Pointer(r))}
}

// SetPlace says which is the first context of a block on a path.
func (c *Code) SetPlace(id int, path uint64, first waste.Context) {
	r := &c.rows[id]
	record := uintptr(c.d.View().Records) + uintptr(first)*waste.RecordSize
	r.onPath = onPath{path: path, record: record, next: noNext}
	c.keep(r)
}

// SetCalled says that the call of block id on path from leads to path to if the block next follows.
func (c *Code) SetCalled(id int, from, next, to uint64) {
	if r := &c.rows[id]; r.path == from {
		r.next, r.to = next, to
		c.keep(r)
	}
}

// emitPlace emits the code that looks for what the row at R11 says on the path in RAX; ZF is clear
// if that is not known.
func (c *Code) emitPlace(a enc.Table) {
	var s state
	var p place
	c.at.place = uintptr(a.Here())
	a.Mov(x86.RCX, x86.RAX)
	a.MulImm(x86.RCX, placeFactor)
	a.Mov(x86.RDX, x86.R11)
	a.Shr(x86.RDX, rowShift)
	a.Lea(x86.RCX, enc.Mem{Base: x86.RCX, Index: x86.RDX, Scale: 1})
	a.AndImm(x86.RCX, 1<<placeShift-1)
	a.Shl(x86.RCX, placeSize)
	a.AddMem(x86.RCX, field(unsafe.Offsetof(s.places)))
	a.CmpReg(x86.RAX, enc.At(x86.RCX, int32(unsafe.Offsetof(p.path))))
	other := a.JccFar(enc.CondNE)
	a.CmpReg(x86.R11, enc.At(x86.RCX, int32(unsafe.Offsetof(p.row))))
	row := a.JccFar(enc.CondNE)
	for at := int32(0); at < int32(unsafe.Sizeof(onPath{})); at += 8 {
		a.Load(x86.RDX, enc.At(x86.RCX, at))
		a.Store(enc.At(x86.R11, rowOnPath+at), x86.RDX)
	}
	a.BindFar(other)
	a.BindFar(row)
	a.Ret()
}
