package engine

import (
	"math/bits"

	"lime/internal/cpu"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// slotReg holds the guest's value of a superblock's budget register.
const slotReg = 4

// superEmit is a superblock on its way into the cache.
type superEmit struct {
	translation
	s     *super
	first []int     // index of the first instruction of each block
	outs  []*wayOut // emitted behind the path
	calls []uint64  // return addresses of the path's open calls
	loop  uint64    // host address of the head's budget check
	over  uint64    // rel32 of the branch taken when the budget is used up
}

// wayOut is a place where control leaves the path.
type wayOut struct {
	patch uint64 // rel32 of the branch
	at    int    // instruction that leaves; it counts as executed
	first int    // first instruction of its block
	own   *exit  // direct exit
	from  *block // or: go on with the block's own last instruction
	rcx   bool   // RCX is in slot B
}

// buildSuper translates s and lets its head jump to it.
func (e *Engine) buildSuper(s *super) bool {
	t := &superEmit{s: s, translation: translation{e: e, avoid: x86.NoReg}}
	t.b = &block{pc: s.head.pc, id: s.head.id, super: s}
	if !t.collect() || !e.cache.room(2*roomFixed+2*roomPerInst*s.n()) || !e.hiddenRoom(len(s.path)+1) {
		return false
	}
	s.code = t.b
	s.reg = t.freeReg()
	s.total = -1
	if e.cfg.Mode != Plain {
		s.total = e.newHidden()
	}
	t.a.PC = e.cache.next
	t.b.host = t.a.PC
	t.enterPath()
	for i := range s.path {
		t.pathBlock(i)
	}
	t.leaves()
	for _, x := range t.exits {
		t.stub(x)
	}
	e.cache.put(t.a.Code)
	t.finish()
	return true
}

// finish makes the superblock reachable.
func (t *superEmit) finish() {
	e, s := t.e, t.s
	t.b.hostHi = e.cache.next
	t.b.n = uint32(s.n())
	e.order = append(e.order, t.b)
	if s.total >= 0 {
		t.describeTotal()
	}
	for _, x := range t.exits {
		if to := e.blocks[x.target]; x.done && to != nil {
			e.link(x, to)
			to.supers = append(to.supers, s)
		}
	}
	for _, b := range s.path {
		b.supers = append(b.supers, s)
	}
	s.head.super = s
	jump := enc.Asm{PC: s.head.body}
	jump.Jmp(t.b.host)
	e.cache.replace(s.head.body, jump.Code)
}

// describeTotal says which edges the hidden counter of the whole path stands for. A
// budget register counts instructions of rounds begun, so it is divided.
func (t *superEmit) describeTotal() {
	h := &t.e.hidden[t.s.total]
	h.div = 1
	if t.s.reg != x86.NoReg {
		h.div = uint64(t.s.n())
	}
	for _, st := range t.s.edges {
		h.add = append(h.add, st.id)
	}
	t.e.noteSums(h)
}

// collect decodes the blocks of the path.
func (t *superEmit) collect() bool {
	for _, b := range t.s.path {
		t.first = append(t.first, len(t.insts))
		code, _ := t.e.fetch(b.pc, t.e.buf[:])
		if len(code) < int(b.size) {
			return false
		}
		for i := range b.starts {
			var in x86.Inst
			if x86.Decode(code[b.starts[i]:], &in) != nil {
				return false
			}
			t.b.starts = append(t.b.starts, uint16(len(t.code))+b.starts[i])
			t.insts = append(t.insts, in)
			t.s.pcs = append(t.s.pcs, b.pc+uint64(b.starts[i]))
		}
		t.code = append(t.code, code[:b.size]...)
	}
	t.first = append(t.first, len(t.insts))
	return true
}

// freeReg returns a register that no instruction of a loop mentions, or NoReg.
func (t *superEmit) freeReg() x86.Reg {
	if !t.s.loop {
		return x86.NoReg
	}
	used := x86.RegSet(1 << x86.RSP)
	for i := range t.insts {
		used |= t.insts[i].Reads | t.insts[i].Writes
		if t.insts[i].Branch == x86.BranchRet {
			used = used.With(x86.RCX)
		}
	}
	free := ^uint16(used)
	if free == 0 {
		return x86.NoReg
	}
	r := x86.Reg(15 - bits.LeadingZeros16(free))
	t.avoid = r
	return r
}

// enterPath emits the entry and the budget check of the head. No flags are live there.
// A register counts the instructions of the rounds from nil, so that the rounds do not wait for
// the memory that holds the budget.
func (t *superEmit) enterPath() {
	a, s := &t.a, t.s
	if s.reg == x86.NoReg {
		t.loop = a.Here()
		a.Sub(gs(cpu.OffBudget), int32(s.n()))
		t.over = a.Jcc(enc.CondS, 0)
		if s.total >= 0 {
			a.Inc(t.hiddenMem(s.total))
		}
		return
	}
	a.Store(slotMem(slotReg), s.reg)
	a.Zero(s.reg)
	t.loop = a.Here()
	a.AddImm(s.reg, int32(s.n()))
	a.CmpReg(s.reg, gs(cpu.OffBudget))
	t.over = a.Jcc(enc.CondG, 0)
}

func (t *superEmit) hiddenMem(h int) enc.Mem {
	return enc.GS(cpu.CountersOff + 8*uint32(t.e.hiddenIndex(h)))
}

// pathBlock emits block i of the path.
func (t *superEmit) pathBlock(i int) {
	first, end := t.first[i], t.first[i+1]
	for k := first; k < end-1; k++ {
		t.mark(k)
		t.plain(k, &t.insts[k], t.s.pcs[k])
	}
	k := end - 1
	t.mark(k)
	if t.s.kinds[i] == EdgeEnd {
		t.endPath(i, k)
		return
	}
	last := i+1 == len(t.s.path)
	t.pathBranch(i, k, last && t.s.loop)
	if last && !t.s.loop {
		t.toTail(i)
	}
}

// toTail goes from the last block to the block behind a straight path; the edge is counted.
func (t *superEmit) toTail(i int) {
	s := t.s
	x := &exit{kind: exitLink, from: s.path[i], edge: s.kinds[i], target: s.tail.pc, done: true}
	t.e.addExit(x)
	t.exits = append(t.exits, x)
	t.alignLink(jmpOpcode)
	x.patch = t.a.Jmp(0)
}

// endPath goes on with the last block's own last instruction.
func (t *superEmit) endPath(i, k int) {
	w := &wayOut{at: k, from: t.s.path[i], first: t.first[i]}
	w.patch = t.a.Jmp(0)
	t.outs = append(t.outs, w)
	if w.from.counted {
		t.step(k-1, w.from, EdgeEnd, nil) // its head would have counted it
	}
}

// next returns the block behind block i of the path.
func (t *superEmit) next(i int) *block {
	if i+1 < len(t.s.path) {
		return t.s.path[i+1]
	}
	if t.s.loop {
		return t.s.head
	}
	return t.s.tail
}

// pathBranch emits the last instruction of block i, which stays on the path, or goes back to the
// head.
func (t *superEmit) pathBranch(i, k int, back bool) {
	in, b, to := &t.insts[k], t.s.path[i], t.next(i)
	ret := t.s.pcs[k] + uint64(in.Len)
	switch in.Branch {
	case x86.BranchCond:
		t.pathCond(i, k, in, back)
		return
	case x86.BranchNone:
		t.plain(k, in, t.s.pcs[k])
	case x86.BranchCall:
		t.pushReturn(ret)
		t.calls = append(t.calls, ret)
	case x86.BranchRet:
		t.pathRet(i, k, in)
		if back {
			t.a.Jmp(t.loop)
		}
		return
	}
	t.step(k, b, t.s.kinds[i], to)
	if back {
		t.a.Jmp(t.loop)
	}
}

// step notes an edge of the path.
func (t *superEmit) step(k int, from *block, kind EdgeKind, to *block) {
	if t.e.cfg.Mode == Plain {
		return
	}
	id := EdgeID(0)
	switch {
	case kind == EdgeEnd:
		id = t.e.edgeTo(from.id, EdgeEnd, 0)
	case kind == EdgeReturn:
		id = t.e.arrival(t.e.retMiss, to)
	default:
		id = t.e.edgeBetween(from.id, kind, to)
	}
	t.s.edges = append(t.s.edges, step{k, id})
}

// pathCond emits a conditional branch: on to the path, out of it otherwise.
func (t *superEmit) pathCond(i, k int, in *x86.Inst, back bool) {
	b, kind := t.s.path[i], t.s.kinds[i]
	target, other := in.Target(t.s.pcs[k]), t.s.pcs[k]+uint64(in.Len)
	away := &exit{kind: exitLink, from: b, edge: EdgeTaken, target: target}
	cond := in.Cond
	if kind == EdgeTaken {
		away.edge, away.target = EdgeFall, other
		cond ^= 1
	}
	w := &wayOut{at: k, own: away}
	if back {
		t.step(k, b, kind, t.next(i))
		t.a.Jcc(cond^1, t.loop)
		w.patch = t.a.Jmp(0)
	} else {
		w.patch = t.a.Jcc(cond, 0)
		t.outs = append(t.outs, w)
		t.step(k, b, kind, t.next(i))
		return
	}
	t.outs = append(t.outs, w)
}

// pathRet emits a return that is expected to go back to the path's own call. If it does not,
// the block's own return goes on.
func (t *superEmit) pathRet(i, k int, in *x86.Inst) {
	ret := t.calls[len(t.calls)-1]
	t.calls = t.calls[:len(t.calls)-1]
	a, rcx := &t.a, x86.RCX
	a.Store(slotMem(slotB), rcx)
	t.mark(k, spill{rcx, slotB, true})
	a.Load(rcx, enc.At(x86.RSP, 0))
	if d := -int64(ret); int64(int32(d)) == d {
		a.Lea(rcx, enc.At(rcx, int32(d)))
	} else {
		a.Store(slotMem(slotA), x86.RAX)
		a.MovImm(x86.RAX, -ret)
		a.Lea(rcx, enc.Mem{Base: rcx, Index: x86.RAX, Scale: 1})
		a.Load(x86.RAX, slotMem(slotA))
	}
	ok := a.Jrcxz()
	w := &wayOut{at: k, from: t.s.path[i], first: t.first[i], rcx: true}
	w.patch = a.Jmp(0)
	t.outs = append(t.outs, w)
	a.Bind(ok)
	a.Load(rcx, slotMem(slotB))
	a.Lea(x86.RSP, enc.At(x86.RSP, 8+int32(uint16(in.Imm))))
	t.step(k, t.s.path[i], EdgeEnd, nil)
	t.step(k, t.s.path[i], EdgeReturn, t.next(i))
}

// leaves emits the ways out of the path.
func (t *superEmit) leaves() {
	patchIn(&t.a, t.over, t.a.Here())
	t.usedUp()
	for _, w := range t.outs {
		patchIn(&t.a, w.patch, t.a.Here())
		t.leaveAt(w)
	}
}

// usedUp emits what happens if less budget is left than the path needs: the head block runs.
func (t *superEmit) usedUp() {
	a, s := &t.a, t.s
	if s.reg == x86.NoReg {
		a.Add(gs(cpu.OffBudget), int32(s.n()))
	} else {
		a.Lea(s.reg, enc.At(s.reg, -int32(s.n())))
		t.settle(s.n())
	}
	a.Jmp(s.head.plain)
}

// settle takes the instructions in the budget register off the budget, but those of the last
// round that come behind part. Flags are dead.
func (t *superEmit) settle(part int) {
	a, s := &t.a, t.s
	if s.total >= 0 {
		a.AddReg(t.hiddenMem(s.total), s.reg)
	}
	if part != s.n() {
		a.Lea(s.reg, enc.At(s.reg, int32(part-s.n())))
	}
	a.SubReg(gs(cpu.OffBudget), s.reg)
	a.Load(s.reg, slotMem(slotReg))
}

// leaveAt emits one way out: budget and counters, then the jump.
func (t *superEmit) leaveAt(w *wayOut) {
	live := x86.StatusFlags
	if w.rcx {
		t.a.Load(x86.RCX, slotMem(slotB))
	}
	if w.own != nil {
		if to := t.e.blocks[w.own.target]; to != nil {
			live = to.live
			w.own.done = true
		}
	}
	part := w.at + 1
	if w.from != nil && w.from.late {
		part = w.first // the block's own last instruction takes all of it off the budget
	}
	if live == 0 {
		t.account(w, part)
	} else {
		t.accountKeeping(w, part)
	}
	if w.own == nil {
		t.a.Jmp(w.from.term)
		return
	}
	t.e.addExit(w.own)
	t.exits = append(t.exits, w.own)
	t.alignLink(jmpOpcode)
	w.own.patch = t.a.Jmp(0)
}

// account does the accounting of a way out where flags are dead.
func (t *superEmit) account(w *wayOut, part int) {
	a, s := &t.a, t.s
	if s.reg != x86.NoReg {
		t.settle(part)
	} else if part != s.n() {
		a.Add(gs(cpu.OffBudget), int32(s.n()-part))
	}
	if h := t.outCounter(w); h >= 0 {
		a.Inc(t.hiddenMem(h))
	}
}

// outCounter makes the hidden counter of a way out; -1 if there is nothing to count.
func (t *superEmit) outCounter(w *wayOut) int {
	if t.s.total < 0 {
		return -1
	}
	h := hidden{div: 1}
	for _, st := range t.s.edges {
		if st.at >= w.at {
			h.sub = append(h.sub, st.id)
		}
	}
	if w.rcx && w.from.counted {
		h.add = append(h.add, w.from.endEdge)
	}
	if w.own != nil && w.own.done {
		h.add = append(h.add, t.e.edgeBetween(w.own.from.id, w.own.edge, t.e.blocks[w.own.target]))
	}
	if len(h.add)+len(h.sub) == 0 {
		return -1
	}
	id := t.e.newHidden()
	t.e.hidden[id] = h
	t.e.noteSums(&h)
	if w.own != nil {
		t.s.outs = append(t.s.outs, out{own: w.own, at: w.at, counter: id})
	}
	return id
}

// accountKeeping does the same where flags are live. RAX, or RDX if RAX holds the budget,
// is free after its value went to slot A.
func (t *superEmit) accountKeeping(w *wayOut, part int) {
	a, s := &t.a, t.s
	h := t.outCounter(w)
	if s.reg == x86.NoReg && part == s.n() && h < 0 {
		return
	}
	r := x86.RAX
	if s.reg == x86.RAX {
		r = x86.RDX
	}
	a.Store(slotMem(slotA), r)
	if s.reg != x86.NoReg {
		t.settleKeeping(r, part)
	} else if part != s.n() {
		addTo(a, r, gs(cpu.OffBudget), int32(s.n()-part))
	}
	if h >= 0 {
		addTo(a, r, t.hiddenMem(h), 1)
	}
	a.Load(r, slotMem(slotA))
}

// settleKeeping is settle by way of r, which is free, where flags are live.
func (t *superEmit) settleKeeping(r x86.Reg, part int) {
	a, s := &t.a, t.s
	if s.total >= 0 {
		a.Load(r, t.hiddenMem(s.total))
		a.Lea(r, enc.Mem{Base: r, Index: s.reg, Scale: 1})
		a.Store(t.hiddenMem(s.total), r)
	}
	a.Load(r, gs(cpu.OffBudget))
	a.Not(s.reg)
	a.Lea(r, enc.Mem{Base: r, Index: s.reg, Scale: 1, Disp: int32(1 + s.n() - part)})
	a.Store(gs(cpu.OffBudget), r)
	a.Load(s.reg, slotMem(slotReg))
}
