// Threads are followed round their loops, for package spin to judge.

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

// loops follows threads round their loops, for package spin to judge.
type loops struct {
	memory *memory
	rounds *rounds
	eng    *engine.Engine
	images *images
	blocks *blockIndex
	run    stepper
	lo, hi uint64 // where the last search led
	follow *spin.Follower
	ran    uint64 // instructions of its last step
}

// stepper runs threads beside the cores' turns.
type stepper interface {
	// traceStep runs one block, and sched_yield.
	traceStep(t *thread) bool
	// stepOn runs one block, whoever is waited for at its head.
	stepOn(t *thread) (cpu.Exit, uint64)
	// changesNothing does what an exit asks for, if that changes nothing for anybody else.
	changesNothing(t *thread, exit cpu.Exit) (out guest.Outcome, does bool)
}

// search follows t until it is proved that it waits; nil if it is not.
func (ls *loops) search(t *thread) *spin.Loop {
	ls.follow.Start()
	ls.lo, ls.hi = t.ctx.RIP, t.ctx.RIP
	for !ls.follow.Tires(t.still.fails%longSearch == longSearch-1) {
		h, ok := ls.headOf(t)
		if !ok {
			return nil
		}
		l, going := ls.follow.Step(h, sliceLength)
		if l != nil || !going {
			return l
		}
		if !ls.run.traceStep(t) || !ls.alsoRan(t, h.PC) {
			return nil
		}
		ls.lo, ls.hi = min(ls.lo, t.ctx.RIP), max(ls.hi, t.ctx.RIP)
	}
	return nil
}

// alsoRan tells the follower of blocks that ran in the same step as the one at pc: the engine may
// see only at the head behind a return that its budget is used up, and not even there if that block
// ends in a return, too. What ran then is told by the number of instructions and by where t is now.
func (ls *loops) alsoRan(t *thread, pc uint64) bool {
	blocks := ls.blocks.sync()
	id, ok := ls.blocks.startingAt(pc)
	if !ok || ls.ran <= uint64(blocks[id].Instrs) { // a system call leaves before it counts
		return ok
	}
	for left := ls.ran - uint64(blocks[id].Instrs); left > 0; {
		b := ls.returning(left)
		if b == nil || !ls.follow.Then(b.PC, b.PC+uint64(b.Size)) {
			return false
		}
		left -= uint64(b.Instrs)
	}
	return slices.Contains(ls.follow.Next(), t.ctx.RIP)
}

// returning is the block behind the last one that ends in a return, and has so many instructions at
// most.
func (ls *loops) returning(most uint64) *engine.Block {
	blocks := ls.eng.Blocks()
	for _, pc := range ls.follow.Next() {
		id, ok := ls.blocks.startingAt(pc)
		if ok && blocks[id].End == engine.EndRet && uint64(blocks[id].Instrs) <= most {
			return &blocks[id]
		}
	}
	return nil
}

// headOf is t at the head of the block that it is about to run.
func (ls *loops) headOf(t *thread) (spin.Head, bool) {
	h := spin.Head{PC: t.ctx.RIP, Regs: t.ctx.GPR, FSBase: t.ctx.FSBase}
	if id, ok := ls.blocks.startingAt(h.PC); ok {
		h.End = h.PC + uint64(ls.eng.Blocks()[id].Size)
		return h, true
	}
	return h, false // a thread that goes round has been here
}

// Decode is the instruction at an address, for package spin. A runtime's looks at the time-stamp counter
// are not told of: TBB's threads pause by them between looks for tasks, and who is followed through all
// that comes too late for some, as nobody else runs meanwhile.
func (ls *loops) Decode(pc uint64) (*x86.Inst, bool) {
	in, ok := ls.memory.decode(pc)
	if ok && spin.ReadsTicks(in) && !ls.images.own(pc) {
		return nil, false
	}
	return in, ok
}

// Load is what memory holds.
func (ls *loops) Load(addr uint64, n int) (uint64, bool) { return ls.memory.value(addr, n) }

// spinner is t in a loop. It has gone round since a clock; nil if the engine has other blocks.
func (ls *loops) spinner(t *thread, l *spin.Loop, since uint64) *spinner {
	s := &spinner{t: t, loop: l, blocks: map[engine.BlockID]bool{}, heads: map[uint64]bool{}}
	for _, pc := range l.Blocks {
		id, ok := ls.blocks.startingAt(pc)
		if !ok {
			return nil
		}
		s.blocks[id], s.heads[pc] = true, true
		s.spans = append(s.spans, extent{pc, pc + uint64(ls.eng.Blocks()[id].Size)})
	}
	for _, c := range l.Beyond {
		for _, id := range ls.blocks.beginningIn(c.Lo, c.Hi) { // probes may have cut it
			s.blocks[id], s.heads[ls.eng.Blocks()[id].PC] = true, true
		}
		s.spans = append(s.spans, extent{c.Lo, c.Hi})
	}
	s.seen = len(ls.eng.Blocks())
	s.own = maps.Clone(s.heads)
	if maps.DeleteFunc(s.own, func(pc uint64, _ bool) bool { return !ls.images.own(pc) }); len(s.own) == 0 {
		s.own = s.heads
	}
	w := ls.waitedFor(l.Watches)
	if s.object = w.Addr; w.Takes && !w.Stack {
		s.tried = w.Addr
	}
	round := max((t.now()-since)*l.Instrs/uint64(max(ls.follow.Executed(), 1)), 1)
	after := func(rounds uint64) uint64 {
		if rounds == spin.Endless {
			return never
		}
		return t.now() + rounds*round
	}
	s.until, s.keeps = after(l.Rounds), after(l.Seen)
	if l.Clock {
		s.until = t.now() + round
	}
	return s
}

// waitedFor is which of the places that a loop watches its wait is called by: one that the thread tries
// to take, or else the first that is not its own, and that others can change: no address of a
// function that it calls, and nothing that may only be read.
func (ls *loops) waitedFor(watches []spin.Watch) *spin.Watch {
	isData := func(w spin.Watch) bool { return ls.memory.mayChange(&w) }
	for _, fits := range []func(spin.Watch) bool{
		func(w spin.Watch) bool { return w.Takes && !w.Stack }, isData, func(w spin.Watch) bool { return !w.Stack },
	} {
		if i := slices.IndexFunc(watches, fits); i >= 0 {
			return &watches[i]
		}
	}
	return &watches[0]
}

// goesTo lets t go on round its loop to one place: all who wait there are to stand at the same.
func (ls *loops) goesTo(t *thread, pc uint64, most int) bool {
	for range most {
		if t.ctx.RIP == pc {
			break
		}
		if !ls.run.traceStep(t) {
			return false
		}
	}
	return t.ctx.RIP == pc
}

// changed reports whether the loop would see something new.
func (ls *loops) changed(s *spinner) bool {
	for i := range s.loop.Watches {
		w := &s.loop.Watches[i]
		if v, ok := ls.memory.value(w.Addr, w.Bytes); !ok || v != w.Value {
			return true
		}
	}
	return false
}
