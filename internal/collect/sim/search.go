package sim

import (
	"maps"
	"slices"

	"lime/internal/collect/spin"
	"lime/internal/cpu"
	"lime/internal/engine"
	"lime/internal/guest"
	"lime/internal/x86"
)

// A thread is followed round its loop, for package spin to judge.

// search follows t until it is proved that it waits; nil if it is not.
func (r *run) search(t *thread) *spin.Loop {
	x := &r.spins
	r.look()
	x.follow.Start()
	x.lo, x.hi = t.ctx.RIP, t.ctx.RIP
	for !x.follow.Tires(t.still.fails%longSearch == longSearch-1) {
		h, ok := r.headOf(t)
		if !ok {
			return nil
		}
		l, going := x.follow.Step(h, sliceLength)
		if l != nil || !going {
			return l
		}
		if !r.traceStep(t) || !r.alsoRan(t, h.PC) {
			return nil
		}
		x.lo, x.hi = min(x.lo, t.ctx.RIP), max(x.hi, t.ctx.RIP)
	}
	return nil
}

// alsoRan tells the follower of a block that ran in the same step as the one at pc: the engine may
// see only at the head behind a return that its budget is used up. What ran then is told by the
// number of instructions and by where t is now.
func (r *run) alsoRan(t *thread, pc uint64) bool {
	x, blocks := &r.spins, r.blocks.sync()
	id, ok := r.blocks.startingAt(pc)
	if !ok || x.ran <= uint64(blocks[id].Instrs) { // a system call leaves before it counts
		return ok
	}
	left := x.ran - uint64(blocks[id].Instrs)
	for _, pc := range x.follow.Next() {
		id, ok := r.blocks.startingAt(pc)
		if ok && blocks[id].End == engine.EndRet && uint64(blocks[id].Instrs) == left {
			return x.follow.Then(pc, pc+uint64(blocks[id].Size)) && slices.Contains(x.follow.Next(), t.ctx.RIP)
		}
	}
	return false
}

// headOf is t at the head of the block that it is about to run.
func (r *run) headOf(t *thread) (spin.Head, bool) {
	h := spin.Head{PC: t.ctx.RIP, Regs: t.ctx.GPR, FSBase: t.ctx.FSBase}
	if id, ok := r.blocks.startingAt(h.PC); ok {
		h.End = h.PC + uint64(r.eng.Blocks()[id].Size)
		return h, true
	}
	return h, false // a thread that goes round has been here
}

// look begins to look at code, which does not change until the next time.
func (r *run) look() {
	if r.spins.follow == nil {
		r.spins.follow = spin.New(r)
	}
	r.spins.insts = map[uint64]*x86.Inst{}
}

// Decode is the instruction at an address, for package spin.
func (r *run) Decode(pc uint64) (*x86.Inst, bool) {
	if in := r.spins.insts[pc]; in != nil {
		return in, true
	}
	in, ok := r.decode(pc)
	if ok {
		r.spins.insts[pc] = &in
	}
	return &in, ok
}

// Load is what memory holds.
func (r *run) Load(addr uint64, n int) (uint64, bool) { return r.value(addr, n) }

// spinner is t in a loop. It has gone round since a clock; nil if the engine has other blocks.
func (r *run) spinner(t *thread, l *spin.Loop, since uint64) *spinner {
	s := &spinner{t: t, loop: l, blocks: map[engine.BlockID]bool{}, heads: map[uint64]bool{}}
	for _, pc := range l.Blocks {
		id, ok := r.blocks.startingAt(pc)
		if !ok {
			return nil
		}
		s.blocks[id], s.heads[pc] = true, true
		s.spans = append(s.spans, extent{pc, pc + uint64(r.eng.Blocks()[id].Size)})
	}
	s.seen = len(r.eng.Blocks())
	s.own = maps.Clone(s.heads)
	if maps.DeleteFunc(s.own, func(pc uint64, _ bool) bool { return !r.images.own(pc) }); len(s.own) == 0 {
		s.own = s.heads
	}
	for i := range l.Watches {
		if w := &l.Watches[i]; !w.Stack {
			s.object = w.Addr
			break
		}
	}
	if s.object == 0 {
		s.object = l.Watches[0].Addr
	}
	s.until = ^uint64(0)
	if l.Rounds < spin.Endless {
		round := (t.now() - since) * l.Instrs / uint64(max(r.spins.follow.Executed(), 1))
		s.until = t.now() + l.Rounds*max(round, 1)
	}
	return s
}

// traceStep runs one block, and sched_yield.
func (r *run) traceStep(t *thread) bool {
	exit, n := r.stepOn(t)
	r.spins.ran = n
	switch exit.Reason {
	case cpu.ExitBudget:
		return true
	case cpu.ExitProbe:
		if r.othersProbe(t) {
			return true
		}
	case cpu.ExitSyscall:
		if t.ctx.GPR[rax] != sysSchedYield {
			break
		}
		out := r.guarded(t, func() guest.Outcome { return r.proc.HandleSyscall(t.g) })
		if out.Kind == guest.Yield || out.Kind == guest.Continue {
			return r.act(t, r.enter(t))
		}
		r.act(t, out)
		return false
	}
	if r.handle(t, exit) && t.core != nil {
		r.act(t, r.enter(t))
	}
	return false
}

// stepOn runs one block, whoever is waited for at its head.
func (r *run) stepOn(t *thread) (cpu.Exit, uint64) {
	exit, n := r.step(t, 1)
	for exit.Reason == cpu.ExitProbe && n == 0 && r.othersProbe(t) {
		exit, n = r.step(t, 1)
	}
	return exit, n
}

// othersProbe reports whether the probe at which t stands means nothing to it: others returned
// here, or came home from a wait.
func (r *run) othersProbe(t *thread) bool {
	pc, sp := t.ctx.RIP, t.ctx.GPR[rsp]
	if f := r.entries[pc]; f != nil && (inside(f.Role) || !t.covered()) { // a function that goes round from its very beginning is entered once
		return false
	}
	if t.hosts != nil || t.gopher != nil || r.bodies[pc] != nil || r.tasks[pc] != nil || r.spins.points[pc] != nil {
		return false
	}
	if r.heap != nil && r.heap.probes[pc] || t.home != nil && t.home.ret == pc || t.meet == pc {
		return false
	}
	n := len(t.frames)
	return n == 0 || t.frames[n-1].rsp >= sp
}
