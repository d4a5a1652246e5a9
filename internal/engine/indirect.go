package engine

import (
	"lime/internal/cpu"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// An indirect branch puts its target into RAX (the guest's RAX and RCX lie in slots A
// and B), hashes it into RCX and jumps through a table. The entries are stubs that compare RAX with
// one guest address each and go on to the next stub of the slot, and in the end
// to the miss stub. Nothing of this touches flags.

// stub is the entry of one target in an indirect table.
type stub struct {
	slot uint64 // address of the table slot
	miss uint64 // what the slot holds when it is empty
}

// spilled says that RAX and RCX are in their slots.
var spilled = [2]spill{{x86.RAX, slotA, true}, {x86.RCX, slotB, true}}

// spillBoth frees RAX and RCX.
func (t *translation) spillBoth(i int) {
	t.a.Store(slotMem(slotA), x86.RAX)
	t.a.Store(slotMem(slotB), x86.RCX)
	t.mark(i, spilled[:]...)
}

// ret emits a return: the target from the stack, then the return table.
func (t *translation) ret(i int, in *x86.Inst) {
	if !t.b.counted && !t.b.late {
		t.countNow(EdgeEnd, 0)
	}
	t.spillBoth(i)
	t.a.Load(x86.RAX, enc.At(x86.RSP, 0))
	t.a.Lea(x86.RSP, enc.At(x86.RSP, 8+int32(uint16(in.Imm))))
	if t.b.late {
		t.lateCount()
	}
	t.a.Movzx16(x86.RCX, x86.RAX)
	t.a.JmpMem(enc.Mem{Base: x86.NoReg, Index: x86.RCX, Scale: 8, Disp: int32(t.e.cache.retTable)})
}

// lateCount takes the block off the budget and counts its end, with RCX, which is free.
func (t *translation) lateCount() {
	addTo(&t.a, x86.RCX, gs(cpu.OffBudget), -int32(t.b.n))
	if t.e.cfg.Mode == Count {
		addTo(&t.a, x86.RCX, counter(t.e.edgeTo(t.b.id, EdgeEnd, 0)), 1)
	}
}

func (e *Engine) retSlot(target uint64) uint64 { return e.cache.retTable + 8*(target&0xffff) }

// indirect emits jmp r/m and call r/m.
func (t *translation) indirect(i int, in *x86.Inst, pc, next uint64) {
	x := &exit{kind: exitSite, edge: EdgeJumpInd, from: t.b}
	if in.Branch == x86.BranchCallInd {
		x.edge = EdgeCallInd
	}
	t.newExit(x)
	x.table = t.e.siteTable()
	t.spillBoth(i)
	t.loadTarget(in, next)
	if x.edge == EdgeCallInd {
		t.pushReturn(next)
	}
	t.a.Movzx8(x86.RCX, 4) // movzx ecx, ah
	t.a.Lea32(x86.RCX, enc.Mem{Base: x86.RCX, Index: x86.RAX, Scale: 1})
	t.a.Movzx8(x86.RCX, x86.RCX)
	t.a.JmpMem(enc.Mem{Base: x86.NoReg, Index: x86.RCX, Scale: 8, Disp: int32(x.table)})
}

func siteSlot(table, target uint64) uint64 { return table + 8*((target>>8+target)&0xff) }

// siteTable allots a table. The block has room for it: see Engine.block.
func (e *Engine) siteTable() uint64 { return e.cache.table(siteSlots, 0) }

// loadTarget puts the target of an indirect branch into RAX; RAX and RCX are free.
func (t *translation) loadTarget(in *x86.Inst, next uint64) {
	if !in.HasMem {
		r := in.RMField()
		if r != x86.RAX {
			t.a.Mov(x86.RAX, r)
		}
		return
	}
	m := enc.Mem{Base: in.Mem.Base, Index: in.Mem.Index, Scale: in.Mem.Scale, Disp: in.Mem.Disp}
	if m.Base == x86.RIP {
		t.a.MovImm(x86.RAX, next+uint64(int64(m.Disp)))
		m = enc.At(x86.RAX, 0)
	}
	if in.Mem.Seg != 0 {
		t.a.Lea(x86.RAX, m)
		t.loadSegBase(x86.RCX, in.Mem.Seg)
		m = enc.Mem{Base: x86.RAX, Index: x86.RCX, Scale: 1}
	}
	t.a.Load(x86.RAX, m)
}

// addStub puts a stub for b in front of the slot's chain, which counts the edge, if the cache has
// room. Where flags are live it counts with RCX, which is free until the guest's is put back.
func (e *Engine) addStub(b *block, slot, miss uint64, id EdgeID) {
	if !e.cache.room(roomFixed) {
		return
	}
	a := &enc.Asm{PC: e.cache.next}
	next := e.cache.slot(slot)
	compareTarget(a, b.pc)
	hit := a.Jrcxz()
	a.Jmp(next)
	a.Bind(hit)
	switch {
	case id < 0:
	case countsByInc(b.live):
		a.Inc(counter(id))
	default:
		addTo(a, x86.RCX, counter(id), 1)
	}
	a.Load(x86.RCX, slotMem(slotB))
	a.Load(x86.RAX, slotMem(slotA))
	a.Jmp(b.entry)
	e.cache.put(a.Code) // first: others may go there at once
	e.cache.setSlot(slot, a.PC)
	b.stubs = append(b.stubs, &stub{slot, miss})
}

// compareTarget makes RCX nil if RAX holds pc.
func compareTarget(a *enc.Asm, pc uint64) {
	if d := -int64(pc); int64(int32(d)) == d {
		a.Lea(x86.RCX, enc.At(x86.RAX, int32(d)))
		return
	}
	a.MovImm(x86.RCX, -pc)
	a.Lea(x86.RCX, enc.Mem{Base: x86.RCX, Index: x86.RAX, Scale: 1})
}
