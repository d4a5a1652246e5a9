package native

// Why memory work is wasted, by the code around a pair.

import (
	"lime/internal/collect/native/watch"
	"lime/internal/waste"
	"lime/internal/waste/reason"
	"lime/internal/x86"
)

// why names the reason of a pair by the code around it; named: its data are a variable; least: the
// lower bound of a kind's share at an instruction.
func (c *code) why(p *watch.Pair, first, second uint64, named bool, least bound) string {
	a, x := c.traits(first, p.Kind)
	b, y := c.traits(second, p.Kind)
	pair := reason.Pair{Kind: p.Kind, Again: p.First == p.Second, First: a, Second: b, Fixed: named && p.Fixed, Several: p.Moved,
		Stack:      x.Base == x86.RSP && y.Base == x86.RSP,
		Recomputed: p.Kind == waste.SilentStore && c.recomputed(second, least)}
	return pair.Word()
}

// recomputed reports whether most of the silent stores of an instruction were computed from silent
// loads only: the loads that are not silent, of all of them together, are less than half as many as
// the stores that are, as far as the samples are sure of both.
func (c *code) recomputed(pc uint64, least bound) bool {
	list, i, at := c.around(pc)
	if i < 0 {
		return false
	}
	loads, fresh := reason.Feeds(list, i, at), 0.0
	for _, load := range loads {
		fresh += 1 - least(waste.SilentLoad, load)
	}
	return len(loads) > 0 && 2*fresh < least(waste.SilentStore, pc)
}

// around is the block that holds an instruction, at which place of it, -1 if it is not known, and
// where the block begins.
func (c *code) around(pc uint64) (list []x86.Inst, i int, at uint64) {
	b, im := c.spot(pc).b, c.images.at(pc)
	if im == nil || im.Bin == nil || pc < b.addr || pc >= b.end {
		return nil, -1, 0
	}
	list, i = blockOf(im.Bin.ReadAddr(b.addr-im.Bias, int(b.end-b.addr)), int(pc-b.addr))
	return list, i, b.addr
}

// traits are those of an instruction's access that may be waste of a kind.
func (c *code) traits(pc uint64, k waste.Kind) (reason.Traits, reason.Access) {
	none := reason.Access{Base: x86.NoReg, Index: x86.NoReg}
	list, i, _ := c.around(pc)
	if i < 0 {
		return 0, none
	}
	for _, a := range list[i].Accesses(nil) {
		if k == waste.SilentLoad && a.Read || k != waste.SilentLoad && a.Write {
			acc := reason.Access{Base: a.Mem.Base, Index: a.Mem.Index, Read: a.Read, Write: a.Write}
			return reason.Of(list, i, acc, list[len(list)-1].Branch == x86.BranchCond), acc
		}
	}
	return 0, none
}

// blockOf decodes a block, and tells which of its instructions begins at an offset, -1 if none does.
func blockOf(text []byte, off int) (list []x86.Inst, which int) {
	which = -1
	for at := 0; at < len(text); {
		var in x86.Inst
		if x86.Decode(text[at:], &in) != nil {
			return list, -1
		}
		if at == off {
			which = len(list)
		}
		list = append(list, in)
		at += int(in.Len)
	}
	return list, which
}
