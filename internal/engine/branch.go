package engine

import (
	"lime/internal/cpu"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// exitKind says what an exit from generated code is for.
type exitKind uint8

const (
	exitLink    exitKind = iota // direct branch whose target is not linked yet
	exitBudget                  // budget used up at the head of a block
	exitProbe                   // probe at the head of a block
	exitRepeat                  // a repeated instruction, in mode Log
	exitSyscall                 // behind a syscall
	exitEmulate                 // at an instruction that the guest emulates
	exitTrap                    // at a trap instruction
	exitSite                    // indirect branch whose target is not in the site's table
	exitRet                     // return to an address that is not in the return table
)

// exit is a way out of a block. Its index in Engine.exits is what generated code
// stores in ExitInfo.
type exit struct {
	kind   exitKind
	edge   EdgeKind // exitLink, exitSite
	from   *block
	target uint64 // guest PC where to go on
	id     int32
	patch  uint64 // address of the rel32 that reaches the stub, or the linked block
	stub   uint64 // address of the code that leaves
	to     *block // linked block
	done   bool   // the code before the branch has counted the edge
	table  uint64 // exitSite: the site's table
	length int    // exitEmulate
	trap   cpu.Exit
}

// newExit registers x; its stub is emitted behind the block.
func (t *translation) newExit(x *exit) *exit {
	t.e.addExit(x)
	t.exits = append(t.exits, x)
	if x.kind == exitLink {
		t.b.exits = append(t.b.exits, x)
	}
	return x
}

func (e *Engine) addExit(x *exit) {
	x.id = int32(len(e.exits))
	e.exits = append(e.exits, x)
}

// leave emits an exit in place.
func (t *translation) leave(x *exit) {
	t.e.addExit(x)
	x.stub = t.a.Here()
	leaveCode(&t.a, x.id)
}

func leaveCode(a *enc.Asm, id int32) {
	a.StoreImm32(gs(cpu.OffInfo), id)
	a.JmpMem(enc.GS(cpu.Slot(cpu.SlotExit)))
}

// stub emits the code of an exit and lets its branch reach it.
func (t *translation) stub(x *exit) {
	x.stub = t.a.Here()
	if x.patch != 0 {
		patchIn(&t.a, x.patch, x.stub)
	}
	if x.kind == exitBudget && t.b.live == 0 {
		t.lastBlock()
	}
	leaveCode(&t.a, x.id)
}

// lastBlock lets the block run if some of the budget was left at its head, so that
// slices end at the first head where nothing is left. The head has taken the block's instructions
// off the budget; the next head finds it negative.
func (t *translation) lastBlock() {
	t.a.Cmp(gs(cpu.OffBudget), -int32(t.b.n))
	t.a.Jcc(enc.CondG, t.b.after)
}

// last emits the last instruction of the block and what follows it; repeated is that of traced.
func (t *translation) last(i int, in *x86.Inst, pc uint64, repeated bool) {
	next := pc + uint64(in.Len)
	switch {
	case emulated(in):
		t.traceEnd()
		t.logEnd(i)
		t.endEmulate(in, pc, next)
	case in.Branch == x86.BranchNone:
		t.plain(i, in, pc)
		t.traceCount(in, repeated)
		t.traceEnd()
		t.logAfter(i, in)
		t.logEnd(i)
		t.goTo(EdgeFall, next)
	default:
		t.traceEnd()
		t.logEnd(i)
		t.branch(i, in, pc, next)
	}
}

func (t *translation) branch(i int, in *x86.Inst, pc, next uint64) {
	switch in.Branch {
	case x86.BranchCond:
		x := t.newExit(&exit{kind: exitLink, edge: EdgeTaken, from: t.b, target: in.Target(pc)})
		t.alignLink(jccOpcode)
		x.patch = t.a.Jcc(in.Cond, 0)
		t.goTo(EdgeFall, next)
	case x86.BranchLoop:
		t.loop(i, in, pc, next)
	case x86.BranchJump:
		t.goTo(EdgeJump, in.Target(pc))
	case x86.BranchCall:
		t.pushReturn(next)
		t.goTo(EdgeCall, in.Target(pc))
	case x86.BranchJumpInd, x86.BranchCallInd:
		t.indirect(i, in, pc, next)
	case x86.BranchRet:
		t.ret(i, in)
	case x86.BranchSyscall:
		t.countNow(EdgeFall, next)
		t.leave(&exit{kind: exitSyscall, from: t.b, target: next})
	case x86.BranchTrap:
		t.trap(in, pc, next)
	case x86.BranchTxn:
		t.txn(in, pc)
	}
}

// goTo emits the jump to a guest address, by way of the link stub at first.
func (t *translation) goTo(kind EdgeKind, target uint64) {
	x := t.newExit(&exit{kind: exitLink, edge: kind, from: t.b, target: target})
	t.alignLink(jmpOpcode)
	x.patch = t.a.Jmp(0)
}

// loop emits loop, loope, loopne, jecxz and jrcxz, which reach 127 bytes only.
func (t *translation) loop(i int, in *x86.Inst, pc, next uint64) {
	code := t.bytes(i)
	t.a.Bytes(code[:len(code)-1]...)
	at := len(t.a.Code)
	t.a.Bytes(0)
	t.goTo(EdgeFall, next)
	t.a.Code[at] = byte(len(t.a.Code) - at - 1)
	t.goTo(EdgeTaken, in.Target(pc))
}

// pushReturn pushes a return address without touching flags or registers.
func (t *translation) pushReturn(ret uint64) {
	if int64(int32(ret)) == int64(ret) {
		t.a.PushImm(int32(ret))
		return
	}
	t.a.StoreImm32(enc.At(x86.RSP, -8), int32(ret))
	t.a.StoreImm32(enc.At(x86.RSP, -4), int32(ret>>32))
	t.a.Lea(x86.RSP, enc.At(x86.RSP, -8))
}

// countNow counts an edge at the end of the block, where all flags must stay.
func (t *translation) countNow(kind EdgeKind, target uint64) {
	if t.e.cfg.Mode == Plain {
		return
	}
	t.count(t.e.edgeTo(t.b.id, kind, target), x86.StatusFlags)
}

// endEmulate leaves at an instruction that the guest emulates.
func (t *translation) endEmulate(in *x86.Inst, pc, next uint64) {
	t.countNow(EdgeFall, next)
	t.leave(&exit{kind: exitEmulate, from: t.b, target: pc, length: int(in.Len)})
}

// trap leaves at a trap instruction, which does not count as executed if it is a fault.
func (t *translation) trap(in *x86.Inst, pc, next uint64) {
	x, after := trapExit(in, pc)
	target := pc
	if after {
		target = next
		t.countNow(EdgeFall, next)
	}
	t.leave(&exit{kind: exitTrap, from: t.b, target: target, trap: x})
}

// txn aborts a transaction at once: EAX = 0, go on at the fallback address.
func (t *translation) txn(in *x86.Inst, pc uint64) {
	t.a.MovImm(x86.RAX, 0)
	t.goTo(EdgeTaken, in.Target(pc))
}
