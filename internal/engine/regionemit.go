package engine

import (
	"lime/internal/cpu"
	"lime/internal/x86"
	"lime/internal/x86/enc"
)

// slotRegion holds the number of the region that was left as the budget did not last.
const slotRegion = 4

// regionEmit is a region on its way into the cache.
type regionEmit struct {
	translation
	r     *region
	out   [][]*arc // by node
	order []int    // nodes, as their code lies
	jumps []jump
	cold  []away
}

// jump is a rel32 that is to lead to a node.
type jump struct {
	at uint64
	to int
}

// away is an arc whose code lies behind that of the nodes.
type away struct {
	at  uint64 // rel32 of the branch to it
	a   *arc
	rcx bool // RCX is in slot B
}

// build translates the region and lets its head jump to it.
func (t *regionEmit) build() bool {
	e, r := t.e, t.r
	t.b = &block{pc: r.head.pc, id: r.head.id, region: r}
	t.out = r.outs()
	t.layOut()
	if !t.collect() || !e.cache.room(2*roomFixed+2*roomPerInst*len(t.insts)) || !e.regions.room(len(r.arcs)) {
		return false
	}
	t.nameEdges()
	r.place()
	r.code = t.b
	e.regions.add(r)
	t.a.PC = e.cache.next
	t.b.host = t.a.PC
	t.goOn(r.arcs[0], headNode)
	for i := range t.order {
		t.node(i)
	}
	t.rest()
	for _, x := range t.exits {
		t.stub(x)
	}
	e.cache.put(t.a.Code)
	t.finish()
	return true
}

// layOut finds an order of the nodes in which most go on to the next one.
func (t *regionEmit) layOut() {
	placed := make([]bool, len(t.r.nodes))
	placed[outside] = true
	put := func(n int) {
		for n != outside {
			placed[n] = true
			t.order = append(t.order, n)
			best := &arc{}
			for _, a := range t.out[n] {
				if !placed[a.to] && (best.to == outside || a.often > best.often) {
					best = a
				}
			}
			n = best.to
		}
	}
	put(headNode)
	for i := 0; i < len(t.order); i++ {
		for _, a := range t.out[t.order[i]] {
			if !placed[a.to] {
				put(a.to)
			}
		}
	}
}

// collect decodes the blocks of the nodes.
func (t *regionEmit) collect() bool {
	for _, n := range t.r.nodes {
		n.first = -int(n.n()) // none has: it is not in order
	}
	for _, i := range t.order {
		n := t.r.nodes[i]
		n.first = len(t.insts)
		code, _ := t.e.fetch(n.b.pc, t.e.buf[:])
		if len(code) < int(n.b.size) {
			return false
		}
		for _, at := range n.b.starts {
			var in x86.Inst
			if x86.Decode(code[at:], &in) != nil {
				return false
			}
			t.b.starts = append(t.b.starts, uint16(len(t.code))+at)
			t.insts = append(t.insts, in)
			t.r.pcs = append(t.r.pcs, n.b.pc+uint64(at))
		}
		t.code = append(t.code, code[:n.b.size]...)
	}
	return true
}

// nameEdges finds the edges that the arcs are.
func (t *regionEmit) nameEdges() {
	e := t.e
	if e.cfg.Mode == Plain {
		return
	}
	for _, a := range t.r.arcs[1:] {
		from := t.r.nodes[a.from].b
		switch {
		case a.own && from.branch == x86.BranchRet:
			a.ids = []EdgeID{e.edgeTo(from.id, EdgeEnd, 0)}
		case a.kind == edgeUsedUp || a.b == nil: // or one that counts where it arrives
		case a.kind == EdgeReturn:
			a.ids = []EdgeID{e.edgeTo(from.id, EdgeEnd, 0), e.arrival(e.retMiss, a.b)}
		default:
			a.ids = []EdgeID{e.edgeBetween(from.id, a.kind, a.b)}
		}
	}
	e.regions.note(e, t.r)
}

// node emits node i of the order.
func (t *regionEmit) node(i int) {
	n := t.r.nodes[t.order[i]]
	n.at = t.a.Here()
	k := n.first
	for ; k < n.first+int(n.n())-1; k++ {
		t.mark(k)
		t.plain(k, &t.insts[k], t.r.pcs[k])
	}
	t.mark(k)
	next := outside
	if i+1 < len(t.order) {
		next = t.order[i+1]
	}
	t.end(t.order[i], k, next)
}

// end emits the last instruction of a node, and the arcs.
func (t *regionEmit) end(n, k, next int) {
	in, out := &t.insts[k], t.out[n]
	behind := t.r.pcs[k] + uint64(in.Len)
	switch in.Branch {
	case x86.BranchCond:
		t.cond(in, out[0], out[1], next)
		return
	case x86.BranchNone:
		t.plain(k, in, t.r.pcs[k])
	case x86.BranchCall:
		t.pushReturn(behind)
	case x86.BranchRet:
		if t.foreseen(n) {
			t.comeBack(k, in, out[0], out[1], next)
			return
		}
	case x86.BranchJumpInd, x86.BranchCallInd:
		if t.foreseen(n) {
			t.goThere(k, in, out[0], out[1], next)
			return
		}
	}
	t.goOn(out[0], next)
}

// foreseen reports whether the region goes on behind the indirect branch at the end of a node.
func (t *regionEmit) foreseen(n int) bool { return len(t.out[n]) > 1 && t.out[n][1].to != outside }

// cond emits a conditional branch: the arc that is taken more, or leads to the next node, goes
// straight on.
func (t *regionEmit) cond(in *x86.Inst, taken, fall *arc, next int) {
	cond, on, other := in.Cond, fall, taken
	straight := taken.often > fall.often
	if next != outside && (taken.to == next || fall.to == next) {
		straight = taken.to == next
	}
	if straight {
		cond, on, other = cond^1, taken, fall
	}
	t.cold = append(t.cold, away{at: t.a.Jcc(cond, 0), a: other})
	t.goOn(on, next)
}

// comeBack emits a return that is expected to go back to the region's own call, or else leaves.
func (t *regionEmit) comeBack(k int, in *x86.Inst, own, back *arc, next int) {
	a := &t.a
	t.freeRCX(k)
	a.Load(x86.RCX, enc.At(x86.RSP, 0))
	t.compare(back.target)
	t.unless(own)
	a.Lea(x86.RSP, enc.At(x86.RSP, 8+int32(uint16(in.Imm))))
	t.goOn(back, next)
}

// goThere does the same for an indirect jump or call.
func (t *regionEmit) goThere(k int, in *x86.Inst, own, there *arc, next int) {
	a, behind := &t.a, t.r.pcs[k]+uint64(in.Len)
	t.freeRCX(k)
	m := enc.Mem{Base: in.Mem.Base, Index: in.Mem.Index, Scale: in.Mem.Scale, Disp: in.Mem.Disp}
	switch {
	case !in.HasMem:
		a.Mov(x86.RCX, in.RMField())
	case m.Base == x86.RIP:
		a.MovImm(x86.RCX, behind+uint64(int64(m.Disp)))
		a.Load(x86.RCX, enc.At(x86.RCX, 0))
	default:
		a.Load(x86.RCX, m)
	}
	t.compare(there.target)
	t.unless(own)
	if there.kind == EdgeCallInd {
		t.pushReturn(behind)
	}
	t.goOn(there, next)
}

// freeRCX puts RCX aside.
func (t *regionEmit) freeRCX(k int) {
	t.a.Store(slotMem(slotB), x86.RCX)
	t.mark(k, spill{x86.RCX, slotB, true})
}

// compare makes RCX nil if it holds pc.
func (t *regionEmit) compare(pc uint64) {
	a := &t.a
	if d := -int64(pc); int64(int32(d)) == d {
		a.Lea(x86.RCX, enc.At(x86.RCX, int32(d)))
		return
	}
	a.Store(slotMem(slotA), x86.RAX)
	a.MovImm(x86.RAX, -pc)
	a.Lea(x86.RCX, enc.Mem{Base: x86.RCX, Index: x86.RAX, Scale: 1})
	a.Load(x86.RAX, slotMem(slotA))
}

// unless goes along an arc if RCX is not nil. It gets RCX back in any case.
func (t *regionEmit) unless(own *arc) {
	ok := t.a.Jrcxz()
	t.cold = append(t.cold, away{at: t.a.Jmp(0), a: own, rcx: true})
	t.a.Bind(ok)
	t.a.Load(x86.RCX, slotMem(slotB))
}

// goBack emits a return that leaves the region: as translation.ret does, with the account in
// between, as RCX is free then.
func (t *regionEmit) goBack(own *arc) {
	a, n := &t.a, t.r.nodes[own.from]
	k := n.first + int(n.n()) - 1
	t.spillBoth(k)
	a.Load(x86.RAX, enc.At(x86.RSP, 0))
	a.Lea(x86.RSP, enc.At(x86.RSP, 8+int32(uint16(t.insts[k].Imm))))
	if t.counts(own) {
		addTo(a, x86.RCX, t.hiddenMem(own), 1)
	}
	if own.delta != 0 {
		addTo(a, x86.RCX, gs(cpu.OffBudget), own.delta)
	}
	a.Movzx16(x86.RCX, x86.RAX)
	a.JmpMem(enc.Mem{Base: x86.NoReg, Index: x86.RCX, Scale: 8, Disp: int32(t.e.cache.retTable)})
}

// goOn emits an arc: its counter, what it adds to the budget, the check, and the jump if it does not
// lead to the node behind.
func (t *regionEmit) goOn(a *arc, next int) {
	if a.own && t.r.nodes[a.from].b.branch == x86.BranchRet {
		t.goBack(a)
		return
	}
	t.account(a)
	if a.to == outside {
		t.leaveBy(a)
		return
	}
	if n := t.r.nodes[a.to]; n.check {
		if a.delta == 0 {
			t.a.Cmp(gs(cpu.OffBudget), 0)
		}
		t.cold = append(t.cold, away{at: t.a.Jcc(enc.CondS, 0), a: t.usedUp(a.to)})
	}
	if a.to != next {
		t.jumps = append(t.jumps, jump{t.a.Jmp(0), a.to})
	}
}

// usedUp returns the arc by which the check of a node leaves.
func (t *regionEmit) usedUp(n int) *arc { return t.out[n][len(t.out[n])-1] }

// empty reports whether an arc needs no code but a jump.
func (t *regionEmit) empty(a *arc) bool {
	return a.to != outside && !t.r.nodes[a.to].check && a.delta == 0 && !t.counts(a)
}

// counts reports whether an arc has a counter.
func (t *regionEmit) counts(a *arc) bool { return a.counter != derived && t.e.cfg.Mode != Plain }

// account emits what an arc counts, and adds to the budget.
func (t *regionEmit) account(a *arc) {
	live := t.r.flagsBehind(a)
	counts := t.counts(a)
	budget := gs(cpu.OffBudget)
	if byInc := countsByInc(live); byInc && counts {
		t.a.Inc(t.hiddenMem(a))
		counts = false
	}
	if live == 0 && a.delta != 0 {
		t.a.Add(budget, a.delta)
		return
	}
	if !counts && a.delta == 0 {
		return
	}
	rcx := x86.RCX
	t.a.Store(slotMem(slotHead), rcx)
	if counts {
		addTo(&t.a, rcx, t.hiddenMem(a), 1)
	}
	if a.delta != 0 {
		addTo(&t.a, rcx, budget, a.delta)
	}
	t.a.Load(rcx, slotMem(slotHead))
}

func (t *regionEmit) hiddenMem(a *arc) enc.Mem {
	return counter(EdgeID(t.e.cfg.MaxEdges + t.r.counter(a)))
}

// leaveBy emits the jump of an arc that leads out.
func (t *regionEmit) leaveBy(a *arc) {
	from := t.r.nodes[a.from].b
	switch {
	case a.own:
		t.a.Jmp(from.term)
	case a.kind == edgeUsedUp:
		t.a.StoreImm32(slotMem(slotRegion), t.r.id)
		t.a.Jmp(from.plain)
	default:
		x := &exit{kind: exitLink, from: from, edge: a.kind, target: a.target, done: a.b != nil}
		t.e.addExit(x)
		t.exits = append(t.exits, x)
		t.alignLink(jmpOpcode)
		x.patch = t.a.Jmp(0)
	}
}

// rest emits the arcs that lie behind the nodes, and lets jumps reach their nodes.
func (t *regionEmit) rest() {
	over := map[*arc]uint64{}
	for i := 0; i < len(t.cold); i++ {
		w := t.cold[i]
		switch at := over[w.a]; {
		case at != 0:
			patchIn(&t.a, w.at, at)
			continue
		case t.empty(w.a) && !w.rcx:
			t.jumps = append(t.jumps, jump{w.at, w.a.to})
			continue
		}
		over[w.a] = t.a.Here()
		patchIn(&t.a, w.at, t.a.Here())
		if w.rcx {
			t.a.Load(x86.RCX, slotMem(slotB))
		}
		t.goOn(w.a, outside)
	}
	for _, j := range t.jumps {
		patchIn(&t.a, j.at, t.r.nodes[j.to].at)
	}
}

// finish makes the region reachable.
func (t *regionEmit) finish() {
	e, r := t.e, t.r
	t.b.hostHi = e.cache.next
	t.b.n = uint32(len(r.pcs))
	e.order = append(e.order, t.b)
	rests := map[*block]bool{}
	for _, x := range t.exits {
		if to := e.blocks[x.target]; x.done && to != nil {
			e.link(x, to)
			rests[to] = true
		}
	}
	for _, n := range r.nodes[1:] {
		rests[n.b] = true
	}
	for b := range rests {
		b.regions = append(b.regions, r)
	}
	r.head.region = r
	jump := enc.Asm{PC: r.head.body}
	jump.Jmp(t.b.host)
	e.cache.replace(r.head.body, jump.Code)
}
