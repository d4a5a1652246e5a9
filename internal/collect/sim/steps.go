// How threads are run, a few blocks at a time.

package sim

import (
	"slices"

	"lime/internal/collect/spin"
	"lime/internal/cpu"
	"lime/internal/guest"
)

// step runs the engine once and moves the core's clock.
func (ex *exits) step(t *thread, budget int64) (cpu.Exit, uint64) {
	a := t.acting()
	before := ex.eng.Retired(t.ctx)
	ex.meter.Before(t.core.n)
	if ex.waste != nil {
		ex.waste.begin(t)
	}
	ex.beside.enters(t)
	exit := ex.run(t, budget)
	ex.beside.left(t, exit)
	n := ex.eng.Retired(t.ctx) - before
	units, err := ex.meter.Slice(t.core.n, t.ctx, t.core.clock, n)
	if err != nil {
		ex.ending.stop("lime-failed", err)
	}
	if !t.schedules() { // a row of the profile is several goroutines: whose part it is cannot be told beforehand
		units = ex.even.time(ex.rec, t.id, units)
	}
	ex.clocks.charge(t, ex.changes.time(a, units, exit))
	a.book.executed += n
	ex.beside.halts(t)
	return exit, n
}

// run runs the engine once, but for stops at which t's path is noted: they change neither where the
// run ends, which is at the first block behind the budget, nor what is charged for it.
func (ex *exits) run(t *thread, budget int64) cpu.Exit {
	before := ex.eng.Retired(t.ctx)
	for left := budget; ; {
		ran := uint64(budget - left)
		piece := ex.sampling.piece(t, ran, left)
		exit := ex.eng.Run(t.ctx, piece)
		if piece == left || exit.Reason != cpu.ExitBudget {
			return exit
		}
		ran = ex.eng.Retired(t.ctx) - before
		if left = budget - int64(ran); left <= 0 {
			return exit
		}
		ex.sampling.sample(t, ran)
	}
}

// traceStep runs one block, and what it ends in: sched_yield, or a look at the clock.
func (ex *exits) traceStep(t *thread) bool {
	exit, n := ex.stepOn(t)
	ex.loops.ran = n
	switch exit.Reason {
	case cpu.ExitBudget:
		return true
	case cpu.ExitProbe:
		if ex.openCalls.othersProbe(t) {
			return true
		}
	case cpu.ExitSyscall, cpu.ExitEmulate:
		out, does := ex.changesNothing(t, exit)
		switch {
		case !does:
		case out.Kind == guest.Yield:
			return ex.act(t, ex.enter(t))
		case out.Kind == guest.Continue:
			return ex.act(t, out) && ex.act(t, ex.enter(t))
		default:
			ex.act(t, out)
			return false
		}
	}
	if ex.handle(t, exit) && t.core != nil {
		ex.act(t, ex.enter(t))
	}
	return false
}

// changesNothing does what an exit asks for, if that changes nothing for anybody else: sched_yield,
// and what tells the time.
func (ex *exits) changesNothing(t *thread, exit cpu.Exit) (out guest.Outcome, does bool) {
	switch nr := t.ctx.GPR[rax]; {
	case exit.Reason == cpu.ExitEmulate:
		return ex.guardedExit(t, exit, ex.memory.proc.HandleEmulate), true
	case exit.Reason == cpu.ExitSyscall && (nr == sysSchedYield || spin.TellsTime(nr)):
		return ex.guarded(t, func() guest.Outcome { return ex.memory.proc.HandleSyscall(t.g) }), true
	}
	return out, false
}

// stepOn runs one block, whoever is waited for at its head.
func (ex *exits) stepOn(t *thread) (cpu.Exit, uint64) {
	exit, n := ex.step(t, 1)
	for exit.Reason == cpu.ExitProbe && n == 0 && ex.openCalls.othersProbe(t) {
		exit, n = ex.step(t, 1)
	}
	return exit, n
}

// touch runs the block of such an instruction, which is its first, and lets those go on that waited
// for what it does: from the clock at which it did it. What has changed before was changed by
// instructions that are not known.
func (ex *exits) touch(t *thread) (cpu.Exit, uint64) {
	checked := t.checked
	ex.waking.wakeSpinners(t)
	t.checked = checked // it may yet be on its way from a pass point to what it comes past for
	t.touches, t.gave, t.gaveBy, t.gaveAt = false, t.now(), t.ctx.RIP, ex.precedence.order.places[t.ctx.RIP]
	exit, n := ex.step(t, 1)
	ex.waking.wakeSpinners(t)
	t.gave = 0
	return exit, n
}

// goHunting runs t block by block and notes the instructions that touch what is hunted.
func (ex *exits) goHunting(t *thread, budget int64) (cpu.Exit, uint64) {
	x := &ex.precedence.order
	for done := uint64(0); ; {
		if h, known := ex.loops.headOf(t); known {
			ex.loops.follow.Touches(&h, ex.precedence.hunted, ex.precedence.touches)
		}
		exit, n := ex.step(t, 1)
		done += n
		x.hunts = slices.DeleteFunc(x.hunts, func(h *hunt) bool {
			h.left -= int64(n)
			return h.left <= 0
		})
		if exit.Reason != cpu.ExitBudget || done >= uint64(budget) {
			return exit, done
		}
	}
}
