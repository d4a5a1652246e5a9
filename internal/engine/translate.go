package engine

import (
	"fmt"

	"lime/internal/cpu"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// Limits of a block, so that one translation is bounded.
const (
	maxInsts = 256
	maxBytes = 2048
)

// roomPerInst is more than the host bytes of any one guest instruction, roomFixed
// more than those of head, end and exits of a block.
const (
	roomPerInst = 128
	roomFixed   = 1024
)

// translation is a block on its way into the cache.
type translation struct {
	e     *Engine
	a     enc.Asm
	b     *block
	code  []byte     // guest bytes from b.pc on
	insts []x86.Inst // decoded
	exits []*exit    // made so far, whose stubs are emitted at the end
	probe bool
	avoid x86.Reg // register that must not be borrowed
	max   int     // instructions at most
	step  bool    // for one passage only: it may write to its own page
	bare  bool    // mode Log: it leaves nothing in the log
	tr    tracer
	lg    logger

	repeat bool // mode Log: it is one repeated string instruction, gather or scatter

	writable bool // the code may change without notice
}

// unrunnable is the reason for which no block can start at a PC.
type unrunnable struct{ exit cpu.Exit }

func (u *unrunnable) Error() string { return fmt.Sprintf("cannot run: %+v", u.exit) }

// recentBlocks is how many blocks are found without a map, where slices begin.
const recentBlocks = 1021

// block returns the translation of pc, made now if there is none. The error is *unrunnable.
func (e *Engine) block(pc uint64) (*block, error) {
	last := &e.recent[pc%recentBlocks]
	if b := *last; b != nil && b.pc == pc && !b.stale {
		return b, nil
	}
	if b := e.blocks[pc]; b != nil {
		*last = b
		return b, nil
	}
	e.splitAt(pc)
	return e.translate(&translation{e: e, b: &block{pc: pc}, probe: e.probes[pc], max: maxInsts, avoid: x86.NoReg})
}

// stepOver returns a translation of the one instruction at pc, which writes to a page that is
// protected as soon as code on it is translated. It is good for one passage. bare: it records
// nothing.
func (e *Engine) stepOver(pc uint64, bare bool) (*block, error) {
	b, err := e.translate(&translation{e: e, b: &block{pc: pc}, max: 1, step: true, bare: bare, avoid: x86.NoReg})
	if err == nil {
		e.drop(b)
	}
	return b, err
}

func (e *Engine) translate(t *translation) (*block, error) {
	if err := t.decodeSettled(); err != nil {
		return nil, err
	}
	need := roomFixed + roomPerInst*len(t.insts)
	switch e.cfg.Mode {
	case Trace:
		need += roomTraced * len(t.insts)
	case Log:
		need += roomLog * len(t.insts)
	}
	if !e.cache.room(need) || !e.cache.tableRoom(siteSlots) {
		e.flush()
	}
	t.emit()
	return t.b, nil
}

// decodeSettled reads the instructions of the block, again if other threads have written there
// meanwhile.
func (t *translation) decodeSettled() error {
	for {
		err := t.decode()
		if err != nil || !t.writable || t.step || !t.moved() {
			return err
		}
		t.insts, t.b.starts, t.repeat = nil, nil, false
	}
}

// decode reads the instructions of the block.
func (t *translation) decode() error {
	e, pc := t.e, t.b.pc
	code, r := e.fetch(pc, e.buf[:])
	t.code = code
	off := uint64(0)
	for len(t.insts) < t.max && !t.stopBefore(pc+off, len(t.insts)) {
		var in x86.Inst
		if err := x86.Decode(code[off:], &in); err != nil {
			if len(t.insts) > 0 {
				break
			}
			return e.undecodable(pc, code, err)
		}
		if err := runnable(&in); err != nil {
			if len(t.insts) > 0 {
				break
			}
			return unsupported(pc, &in, err)
		}
		if e.cfg.Mode == Log && (in.Rep != 0 || in.HasMem && in.Mem.VSIB) {
			if len(t.insts) > 0 {
				break
			}
			t.repeat = true
		}
		if in.X87 && !e.x87 && in.Special != x86.SpecialXSAVE {
			e.sawX87() // an xsave alone finds, and restores, the initial state
		}
		t.b.starts = append(t.b.starts, uint16(off))
		t.insts = append(t.insts, in)
		off += uint64(in.Len)
		if in.EndsBlock() || emulated(&in) || t.repeat {
			break
		}
	}
	t.code = code[:off]
	t.b.size, t.b.n = uint32(off), uint32(len(t.insts))
	t.writable = r.Changes()
	t.b.live = t.liveIn(t.writable)
	if t.writable && !t.step {
		e.protect(pc, pc+off, &r)
	}
	return nil
}

// stopBefore reports whether the block ends before pc: there starts another
// one (also if the cache was emptied since), or a probe.
func (t *translation) stopBefore(pc uint64, n int) bool {
	if n == 0 {
		return false
	}
	return t.e.heads[pc/pageSize][pc] || t.e.probes[pc]
}

// undecodable is the exit where no instruction can be decoded at pc.
func (e *Engine) undecodable(pc uint64, code []byte, err error) error {
	if len(code) < 15 {
		var first [1]byte
		end := pc + uint64(len(code))
		if more, _ := e.fetch(end, first[:]); len(more) == 0 {
			return &unrunnable{e.fetchFault(end)}
		}
	}
	n := min(len(code), 15)
	return &unrunnable{cpu.Exit{Reason: cpu.ExitUnsupported,
		Err: fmt.Errorf("instruction at %#x (% x): %w", pc, code[:n], err)}}
}

func unsupported(pc uint64, in *x86.Inst, err error) error {
	return &unrunnable{cpu.Exit{Reason: cpu.ExitUnsupported,
		Err: fmt.Errorf("instruction at %#x (%s): %w", pc, in.Name, err)}}
}

// emit writes the block into the cache and registers it.
func (t *translation) emit() {
	e, b := t.e, t.b
	t.a.PC = e.cache.next
	b.host = t.a.PC
	last := b.pc + uint64(b.starts[len(b.starts)-1])
	b.id = e.idOf(b, t.code, last, endOf(&t.insts[len(t.insts)-1]))
	in := &t.insts[len(t.insts)-1]
	b.branch, b.near = in.Branch, !in.HasMem || in.Mem.Seg == 0
	t.head()
	pc := b.pc
	for i := range t.insts {
		in := &t.insts[i]
		t.mark(i)
		repeated := t.traced(i, in, pc)
		t.logBefore(i, in, pc)
		if i == len(t.insts)-1 {
			b.term = t.a.Here()
			t.last(i, in, pc, repeated)
			break
		}
		t.plain(i, in, pc)
		t.traceCount(in, repeated)
		t.logAfter(i, in)
		pc += uint64(in.Len)
	}
	t.slowPaths()
	for _, x := range t.exits {
		t.stub(x)
	}
	e.cache.put(t.a.Code)
	t.fillTables()
	b.hostHi = e.cache.next
	e.register(b)
	e.knownBlock(b)
	e.part(b)
	if end := e.table[b.id].End; end == EndCall || end == EndCallInd {
		e.setCall(b)
	}
}

// fillTables makes all slots of the block's table miss.
func (t *translation) fillTables() {
	for _, x := range t.exits {
		if x.table != 0 {
			t.e.cache.fill(x.table, siteSlots, x.stub)
		}
	}
}

// setCall notes b as the call block that returns to the address behind it.
func (e *Engine) setCall(b *block) {
	if old, ok := e.calls[b.end()]; ok && old == b.id {
		return
	}
	e.calls[b.end()] = b.id
	e.cache.setSlot(e.retSlot(b.end()), e.retMiss.stub)
}

// mark notes that host code from here on belongs to instruction i, with the
// given guest registers in scratch slots.
func (t *translation) mark(i int, spills ...spill) {
	m := mark{off: uint32(len(t.a.Code)), inst: uint16(i), logged: t.lg.done, ahead: t.lg.ahead}
	n := copy(m.spill[:], spills)
	n += copy(m.spill[n:], t.held())
	copy(m.spill[n:], t.heldForLog())
	if n := len(t.b.marks); n > 0 && t.b.marks[n-1].off == m.off {
		t.b.marks = t.b.marks[:n-1]
	}
	t.b.marks = append(t.b.marks, m)
}

// Scratch slots by use.
const (
	slotA    = 0 // scratch registers of one instruction
	slotB    = 1
	slotHead = 2 // budget, counters
	slotJump = 3 // target of an indirect branch
)

func gs(off uintptr) enc.Mem  { return enc.GS(uint32(off)) }
func slotMem(n uint8) enc.Mem { return enc.GS(cpu.Slot(int(n))) }
func counter(id EdgeID) enc.Mem {
	return enc.GS(cpu.CountersOff + 8*uint32(id))
}

// nop5 is a no-operation of five bytes: room for a jump.
var nop5 = [5]byte{0x0f, 0x1f, 0x44, 0x00, 0x00}

// head emits the probe exit, room for the jump to a region, and the budget check.
func (t *translation) head() {
	b := t.b
	if !t.probe && !t.repeat {
		t.alignHead()
	}
	b.entry = t.a.Here()
	if t.probe {
		t.leave(&exit{kind: exitProbe, from: b, target: b.pc})
	} else if t.repeat {
		t.leave(&exit{kind: exitRepeat, from: b, target: b.pc})
	}
	t.alignHead()
	b.body = t.a.Here()
	t.a.Bytes(nop5[:]...)
	b.plain = t.a.Here()
	t.checkBudget()
	b.after = t.a.Here()
	t.headEdge()
	t.traceHead()
	t.logHead()
}

// checkBudget takes the block's instructions off the budget, and leaves if nothing was left.
// A return where flags are live does that itself (see ret), without leaving: the next block will.
func (t *translation) checkBudget() {
	b := t.b
	if b.late = t.returns() && b.live != 0; b.late {
		return
	}
	x := t.newExit(&exit{kind: exitBudget, from: b, target: b.pc})
	if b.live == 0 {
		t.a.Sub(gs(cpu.OffBudget), int32(b.n))
		x.patch = t.a.Jcc(enc.CondS, 0)
	} else {
		t.headKeepingFlags(x)
	}
}

// returns reports whether the block ends in a return that is neither traced nor logged.
func (t *translation) returns() bool {
	return t.b.branch == x86.BranchRet && t.e.cfg.Mode != Trace && t.e.cfg.Mode != Log
}

// headEdge counts a return at the head of its block, where flags are dead, rather than at its end.
func (t *translation) headEdge() {
	b := t.b
	if b.counted = t.returns() && !b.late && t.e.cfg.Mode == Count; b.counted {
		b.endEdge = t.e.edgeTo(b.id, EdgeEnd, 0)
		t.count(b.endEdge, 0)
	}
}

// headKeepingFlags counts the budget down without touching flags. Budgets are below
// 2^31, so the upper half of the budget is nil as long as it is not used up.
func (t *translation) headKeepingFlags(x *exit) {
	a, rcx := &t.a, x86.RCX
	a.Store(slotMem(slotHead), rcx)
	a.Load(rcx, gs(cpu.OffBudget))
	a.Lea(rcx, enc.At(rcx, -int32(t.b.n)))
	a.Store(gs(cpu.OffBudget), rcx)
	a.Load32(rcx, gs(cpu.OffBudget+4))
	ok := a.Jrcxz()
	a.Load(rcx, slotMem(slotHead))
	x.patch = a.Jmp(0)
	a.Bind(ok)
	a.Load(rcx, slotMem(slotHead))
}

// count emits the increment of an edge's counter; live says which flags must stay.
func (t *translation) count(id EdgeID, live x86.Flags) { countEdge(&t.a, t.e.cfg.Mode, id, live) }

func countEdge(a *enc.Asm, mode Mode, id EdgeID, live x86.Flags) {
	if mode == Plain {
		return
	}
	if countsByInc(live) {
		a.Inc(counter(id))
		return
	}
	a.Store(slotMem(slotHead), x86.RCX)
	addTo(a, x86.RCX, counter(id), 1)
	a.Load(x86.RCX, slotMem(slotHead))
}

// countsByInc reports whether inc, which leaves CF alone, may count where flags are live.
func countsByInc(live x86.Flags) bool { return live&^x86.CF == 0 }

// addTo adds n to m by way of r, which is free, and leaves the flags alone.
func addTo(a *enc.Asm, r x86.Reg, m enc.Mem, n int32) {
	a.Load(r, m)
	a.Lea(r, enc.At(r, n))
	a.Store(m, r)
}

// plain emits an instruction that does not end the block.
func (t *translation) plain(i int, in *x86.Inst, pc uint64) {
	code := t.bytes(i)
	switch {
	// a hint to the host, whose threads do not wait: 40 to 140 cycles
	case in.Special == x86.SpecialPause && !in.HasMem && in.Writes == 0 && !t.e.parallel():
	case in.Special == x86.SpecialFSGSBASE:
		t.segBase(in, code)
	case !in.HasMem:
		t.a.Bytes(code...)
	case in.Mem.Seg != 0 && in.Name != "lea":
		t.segRelative(i, in, code)
	case in.Mem.Base == x86.RIP:
		t.ripRelative(i, in, code, pc)
	default:
		t.a.Bytes(code...)
	}
}

// bytes returns the guest bytes of instruction i.
func (t *translation) bytes(i int) []byte {
	at := t.b.starts[i]
	return t.code[at : at+uint16(t.insts[i].Len)]
}

// scratch returns one of the low eight registers that in does not mention, and not in avoid.
func scratch(in *x86.Inst, avoid x86.RegSet) x86.Reg {
	for _, r := range [...]x86.Reg{x86.RAX, x86.RCX, x86.RDX, x86.RSI, x86.RDI, x86.RBX} {
		if !(in.Reads | in.Writes | avoid).Has(r) {
			return r
		}
	}
	return x86.RBP // no instruction mentions seven registers and RBP, and has a memory operand that needs rewriting
}

// ripRelative emits an instruction with a RIP-relative operand: with another
// displacement, or through a register if the operand is too far away.
func (t *translation) ripRelative(i int, in *x86.Inst, code []byte, pc uint64) {
	addr := pc + uint64(in.Len) + uint64(int64(in.Mem.Disp))
	if t.a.CopyRIP(code, in, addr) {
		return
	}
	r := t.borrow(i, in, slotA)
	t.a.MovImm(r, addr)
	t.a.CopyBased(code, in, r, 0)
	t.giveBack(r, slotA)
}

// segRelative emits an instruction whose operand is relative to the guest's FS or GS base.
func (t *translation) segRelative(i int, in *x86.Inst, code []byte) {
	r := t.borrow(i, in, slotA)
	t.loadSegBase(r, in.Mem.Seg)
	if in.Mem.Base != x86.NoReg {
		t.a.Lea(r, enc.Mem{Base: in.Mem.Base, Index: r, Scale: 1})
	}
	t.a.CopyBased(code, in, r, in.Mem.Disp)
	t.giveBack(r, slotA)
}

func (t *translation) loadSegBase(r x86.Reg, seg uint8) {
	off := cpu.OffFSBase
	if seg == 0x65 {
		off = cpu.OffGSBase
	}
	t.a.Load(r, gs(off))
}

// borrow frees a register for instruction i.
func (t *translation) borrow(i int, in *x86.Inst, slot uint8) x86.Reg {
	r := scratch(in, t.heldRegs().With(t.avoid))
	t.a.Store(slotMem(slot), r)
	t.mark(i, spill{r, slot, true})
	return r
}

// giveBack restores a borrowed register. The instruction is done by then, and this cannot fault.
func (t *translation) giveBack(r x86.Reg, slot uint8) { t.a.Load(r, slotMem(slot)) }

// segBase emits rdfsbase, rdgsbase, wrfsbase, wrgsbase (0F AE /0 to /3) as moves.
func (t *translation) segBase(in *x86.Inst, code []byte) {
	op := in.ModRM >> 3 & 7
	m := gs(cpu.OffFSBase)
	if op&1 == 1 {
		m = gs(cpu.OffGSBase)
	}
	r := in.RMField()
	wide := in.Rex&8 != 0
	hi := m
	hi.Disp += 4
	switch {
	case op < 2 && wide:
		t.a.Load(r, m)
	case op < 2:
		t.a.Load32(r, m)
	case wide:
		t.a.Store(m, r)
	default:
		t.a.Store32(m, r)
		t.a.StoreImm32(hi, 0)
	}
}
