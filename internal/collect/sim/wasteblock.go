package sim

import (
	"lime/internal/engine"
	"lime/internal/waste"
	"lime/internal/waste/elem"
	"lime/internal/x86"
)

// wasteBlock is a block as the search for waste sees it.
type wasteBlock struct {
	pc, last uint64 // of its first and last instruction
	end      engine.End
	shape    *engine.LogShape
	accesses []wasteAccess
	node     int32 // the call path by which it was reached last, and the first context there
	base     waste.Context
	bases    map[int32]waste.Context // by call path
	body     waste.Body              // its accesses, but those of a call or return that ends it
	tail     []wasteAccess           // these; what else would stand there is done one by one
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
	traits traits
	pc     uint64
}

type accessKind uint8

const (
	accessLoad   accessKind = iota
	accessStore             // with values
	accessBoth              // a load, then a store, with values
	accessChange            // a store whose values are not logged
	accessPush              // of a call
	accessReturn
	accessVague // it may touch less, or somewhere else
)

func newWasteBlock(x *engine.Block, shape *engine.LogShape, code []byte) (*wasteBlock, error) {
	b := &wasteBlock{pc: x.PC, last: x.LastPC, end: x.End, shape: shape, bases: map[int32]waste.Context{}}
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
		case l.Values == 0:
			a.what = accessChange
		case l.Read:
			a.what = accessBoth
		default:
			a.what = accessStore
		}
		a.traits = traitsOf(insts, l.Inst, l, x.End)
		a.elem = elem.Stored(insts[:l.Inst+1], a.n)
		b.accesses = append(b.accesses, a)
	}
	b.split()
	return b, nil
}

// split cuts the accesses into those that the detector takes at once, and the rest.
func (b *wasteBlock) split() {
	var ops []waste.Op
	for k := range b.accesses {
		a := &b.accesses[k]
		if a.what > accessChange {
			b.tail = b.accesses[k:]
			break
		}
		if a.what == accessBoth {
			ops = append(ops, waste.Op{Part: true, Bytes: int32(a.n)})
		}
		ops = append(ops, waste.Op{Store: a.what != accessLoad, Elem: a.elem, Bytes: int32(a.n), Values: int32(a.values)})
	}
	b.body = waste.NewBody(ops)
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
