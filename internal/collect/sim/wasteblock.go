package sim

import (
	"lime/internal/engine"
	"lime/internal/waste"
	"lime/internal/waste/elem"
	"lime/internal/waste/quick"
	"lime/internal/waste/reason"
	"lime/internal/x86"
)

// wasteBlock is a block as the search for waste sees it.
type wasteBlock struct {
	pc, last uint64 // of its first and last instruction
	end      engine.End
	shape    *engine.LogShape
	accesses []wasteAccess
	id       engine.BlockID
	bases    map[int32]waste.Context // by call path
	code     quick.Block
	tail     []wasteAccess // what is not of the code's ops
	called   calledFrom
}

// calledFrom is where the block, which is a call, has led last.
type calledFrom struct {
	from  int32
	entry uint64
	to    int32
}

// wasteAccess is what an access means.
type wasteAccess struct {
	what   accessKind
	writes bool
	elem   waste.Elem
	inst   int
	n      int
	values int // words
	traits reason.Traits
	feeds  []uint64 // of a store whose value is computed from loads of the block alone: their instructions
	pc     uint64
}

type accessKind uint8

const (
	accessLoad   accessKind = iota
	accessStore             // with values
	accessBoth              // a load, then a store
	accessChange            // a store whose values are not logged
	accessPush              // of a call
	accessReturn
	accessVague // it may touch less, or somewhere else
)

func newWasteBlock(id engine.BlockID, x *engine.Block, shape *engine.LogShape, code []byte) (*wasteBlock, error) {
	b := &wasteBlock{id: id, pc: x.PC, last: x.LastPC, end: x.End, shape: shape, bases: map[int32]waste.Context{}}
	if shape.Repeat != nil {
		for k, acc := range shape.Repeat.Accesses(nil) {
			b.accesses = append(b.accesses, wasteAccess{pc: x.PC, n: int(acc.Bytes), inst: k})
		}
		return b, nil
	}
	insts, err := decodeAll(code)
	if err != nil {
		return nil, err
	}
	for k := range shape.Accesses {
		l := &shape.Accesses[k]
		a := wasteAccess{inst: l.Inst, n: int(l.Bytes), values: l.Values, pc: l.PC, writes: l.Write}
		switch {
		case l.Vague:
			a.what = accessVague
		case !l.Write && insts[l.Inst].Branch == x86.BranchRet:
			a.what = accessReturn
		case !l.Write:
			a.what = accessLoad
		case insts[l.Inst].Branch != x86.BranchNone:
			a.what = accessPush
		case l.Read:
			a.what = accessBoth
		case l.Values == 0:
			a.what = accessChange
		default:
			a.what = accessStore
		}
		a.traits = reason.Of(insts, l.Inst, reason.Access{Base: l.Base, Index: l.Index, Read: l.Read, Write: l.Write}, x.End == engine.EndCond)
		if l.Write {
			a.feeds = reason.Feeds(insts, l.Inst, x.PC)
		}
		a.elem = elem.Stored(insts[:l.Inst+1], a.n)
		b.accesses = append(b.accesses, a)
	}
	b.split()
	return b, nil
}

// split cuts the accesses into those that are loads and stores and no more, and the rest.
func (b *wasteBlock) split() {
	var ops []quick.Op
	b.tail = b.accesses
	for len(b.tail) > 0 && b.tail[0].what <= accessChange {
		a := &b.tail[0]
		if a.what == accessBoth {
			ops = append(ops, quick.Op{Part: true, Bytes: int32(a.n)})
		}
		ops = append(ops, quick.Op{Store: a.what != accessLoad, Elem: a.elem, Bytes: int32(a.n), Values: int32(a.values)})
		b.tail = b.tail[1:]
	}
	tail := quick.Other
	switch {
	case len(b.tail) == 0:
		tail = quick.Nothing
	case len(b.tail) > 1:
	case b.tail[0].what == accessPush:
		tail = quick.Call
	case b.tail[0].what == accessReturn:
		tail = quick.Return
	}
	b.code = quick.NewBlock(ops, tail)
}

func decodeAll(code []byte) (out []x86.Inst, err error) {
	for len(code) > 0 {
		var in x86.Inst
		if err := x86.Decode(code, &in); err != nil {
			return nil, err
		}
		out = append(out, in)
		code = code[in.Len:]
	}
	return out, nil
}
