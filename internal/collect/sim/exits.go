// What threads do that have left the engine: they stand at a probe, call the system, end.

package sim

import (
	"fmt"

	"lime/internal/cpu"
	"lime/internal/engine"
	"lime/internal/guest"
	"lime/internal/section"
	"lime/internal/unit"
)

// exits runs threads in the engine, and acts on why they leave it.
type exits struct {
	clocks     *clocks
	counting   *counting
	dispatcher *dispatcher
	ending     *ending
	lives      *lives
	loops      *loops
	memory     *memory
	openCalls  *openCalls
	parking    *parking
	precedence *precedence
	sampling   *sampling
	segments   *segments
	waits      *waits
	waking     *waking
	eng        *engine.Engine
	meter      Meter
	cores      *cores
	rec        *section.Recogniser
	even       *evening
	changes    *lockChanges
	waste      *wasteMeter
	beside     *beside
	end        *end
	cur        *thread // whose exit is being handled
}

// handle acts on an exit; false ends the slice.
func (ex *exits) handle(t *thread, exit cpu.Exit) bool {
	t.heard = t.now()
	switch exit.Reason {
	case cpu.ExitSyscall:
		if wakes(t) && !ex.cores.first(t.core) {
			t.leave(exit) // those behind may be about to wait
			return false
		}
		return ex.syscall(t)
	case cpu.ExitProbe:
		return ex.counting.over() || ex.dispatcher.probe(t)
	case cpu.ExitFault:
		return ex.act(t, ex.guardedExit(t, exit, ex.memory.proc.HandleFault))
	case cpu.ExitRepeat:
		ex.waste.repeatAt(t)
	case cpu.ExitEmulate:
		return ex.act(t, ex.guardedExit(t, exit, ex.memory.proc.HandleEmulate))
	case cpu.ExitUnsupported:
		ex.ending.stop("lime-failed", fmt.Errorf("thread %d at %#x: %w", t.id, t.ctx.RIP, exit.Err))
		return false
	}
	return true
}

// enter is what must happen before t runs on.
func (ex *exits) enter(t *thread) guest.Outcome {
	return ex.guarded(t, func() guest.Outcome { return ex.memory.proc.Enter(t.g) })
}

// guardedExit hands an exit to the guest.
func (ex *exits) guardedExit(t *thread, exit cpu.Exit, do func(*guest.Thread, cpu.Exit) guest.Outcome) guest.Outcome {
	return ex.guarded(t, func() guest.Outcome { return do(t.g, exit) })
}

// guarded calls into the guest on behalf of t and tells the recogniser whom that woke.
func (ex *exits) guarded(t *thread, f func() guest.Outcome) (out guest.Outcome) {
	t.early = false
	ex.handling(t, func() { out = f() })
	return out
}

// handling runs what is done on behalf of t, nil for time and the outside world.
func (ex *exits) handling(t *thread, f func()) {
	was := ex.cur
	ex.cur = t
	f()
	ex.cur = was
	ex.waits.reportWakes(t)
}

// apart runs f, which gives the lock up, where threads run in parallel: others' exits are handled
// meanwhile, and t's is at hand again afterwards.
func (ex *exits) apart(f func()) {
	cur := ex.cur
	ex.cur = nil
	f()
	ex.cur = cur
}

// act does what an outcome asks for; false ends the slice.
func (ex *exits) act(t *thread, out guest.Outcome) bool {
	if out.Takes > 0 && ex.beside == nil {
		ex.clocks.charge(t, ex.clocks.clock(out.Takes))
	}
	if out.New != nil {
		ex.lives.created(t, out.New)
	}
	switch out.Kind {
	case guest.Continue:
		return true
	case guest.Yield:
		ex.yields(t)
	case guest.Blocked:
		ex.parking.slept(t)
		ex.waits.blockedOn(t, out.Wait)
		if t.early {
			ex.handling(nil, func() { ex.ready(t, t.earlyAt) })
		}
	case guest.ThreadExit:
		ex.lives.threadGone(t)
	case guest.ProcessExit:
		ex.ending.exited(ex.memory.proc.Status())
	case guest.Replace:
		ex.end.exec, t.host.replaces = ex.memory.proc.Exec(), true
		// By another image: a kill before that one has its own file must not leave the profile of a program that
		// ended.
		ex.ending.stop("running", nil)
	}
	return false
}

// yields lets the other threads of the core go first.
func (ex *exits) yields(t *thread) {
	if ex.beside != nil {
		ex.beside.yields(t)
		return
	}
	ex.segments.noteYield(t)
	ex.parking.yieldStill(t)
	if k := t.core; k != nil && !t.blocked {
		ex.cores.yield(k)
	}
	ex.cores.settle()
}

// Numbers of the system calls that end threads (Linux, syscall_64.tbl).
const (
	sysExit      = 60
	sysExitGroup = 231
)

// wakes reports whether t stands at a system call that may wake others: futex with
// WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP, WAKE_BITSET (include/uapi/linux/futex.h).
func wakes(t *thread) bool {
	const futex, command = 202, 0x7f
	if t.ctx.GPR[rax] != futex {
		return false
	}
	switch t.ctx.GPR[rsi] & command {
	case 1, 3, 4, 5, 10:
		return true
	}
	return false
}

func (ex *exits) syscall(t *thread) bool {
	ex.waking.wakeSpinners(t)
	if ex.waste != nil {
		ex.waste.system(t)
	}
	switch t.ctx.GPR[0] {
	case sysExit:
		ex.lives.endThread(t)
	case sysExitGroup:
		ex.beside.gather(t)
		ex.lives.endAll(t)
	}
	naps(ex.beside, t)
	waits := ex.beside != nil && waitsOnFutex(t)
	out := ex.guarded(t, func() guest.Outcome { return ex.memory.proc.HandleSyscall(t.g) })
	if waits && out.Kind == guest.Continue {
		ex.beside.passes(t)
	}
	return ex.act(t, out)
}

// ready lets a blocked thread run again.
func (ex *exits) ready(t *thread, at unit.Nanos) {
	if t.gone || t.spin != nil {
		return
	}
	if !t.blocked { // the call that blocks it is still being handled
		t.early, t.earlyAt = true, at
		return
	}
	t.blocked = false
	t.readyAt = max(t.at, ex.wakeClock(t, at))
	t.at = t.readyAt
	t.heard = t.at
	ex.cores.place(t)
	ex.waits.wakes = append(ex.waits.wakes, t)
}
