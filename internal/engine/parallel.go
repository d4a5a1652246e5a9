package engine

import (
	"bytes"
	"sync/atomic"
	"syscall"

	"lime/internal/cpu"
)

// Threads in parallel: with Config.Lock every context may run on a thread of the host, beside the
// others. All that the engine knows is guarded by the lock; what threads in guest code use without
// it is the code itself, the tables of indirect branches, and each its own context. So code is
// written before anything leads to it, what leads to it is changed by single aligned stores, no
// code is overwritten as long as a thread is in it, and nobody touches another's counters.
// docs/RATIONALE.md has the argument.

// parallel reports whether several threads may be in guest code.
func (e *Engine) parallel() bool { return e.cfg.Lock != nil }

// enter runs guest code from host on, without the lock.
func (e *Engine) enter(ctx *cpu.Context, host uint64) {
	if !e.parallel() {
		cpu.Enter(ctx, uintptr(host))
		return
	}
	cpu.SetPlace(ctx, cpu.InCode)
	e.cfg.Lock.Unlock()
	cpu.EnterBeside(ctx, uintptr(host))
	e.cfg.Lock.Lock()
	cpu.SetPlace(ctx, cpu.Outside)
	e.running = ctx
}

// callOut is taken off the budget of a thread that is to leave the code: budgets are far smaller.
const callOut = 1 << 40

// Halt gets all other threads out of guest code; they wait for the lock, which the caller holds. A
// thread counts its budget down with instructions that are not atomic, so what is taken off
// meanwhile can be lost, but nothing else can: it is taken off again.
func (e *Engine) Halt() {
	if !e.parallel() {
		return
	}
	for ctx := range e.contexts {
		for round := 0; cpu.PlaceOf(ctx) == cpu.InCode; round++ {
			if atomic.LoadInt64(&ctx.Budget) > -callOut/2 {
				atomic.AddInt64(&ctx.Budget, -callOut)
			}
			pause(round)
		}
	}
}

// pause lets others run: a thread that is to leave may wait for a core of the host.
func pause(round int) {
	const looks = 64 // before the core is given away: a thread that runs leaves within some 100 ns
	if round > looks {
		_, _, _ = syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
	}
}

// answer puts back what was taken off the budget of a thread that has left.
func (e *Engine) answer(ctx *cpu.Context) {
	if e.called = ctx.Budget < -callOut/2; e.called {
		ctx.Budget += callOut
	}
}

// beforeFlush gets all out of code that is about to be overwritten, and finds out where those have
// faulted that could not tell yet.
func (e *Engine) beforeFlush() {
	e.Halt()
	for ctx := range e.contexts {
		if cpu.PlaceOf(ctx) == cpu.Left && ctx.ExitReason == cpu.ExitFault && e.faulted[ctx] == nil {
			e.faulted[ctx] = e.blockAt(ctx.Scratch[cpu.SlotSigPC])
		}
	}
}

// faultedIn returns the block in which ctx has faulted.
func (e *Engine) faultedIn(ctx *cpu.Context, host uint64) *block {
	if b := e.faulted[ctx]; b != nil {
		delete(e.faulted, ctx)
		return b
	}
	return e.blockAt(host)
}

// beforeForget gets all out of code in [lo, hi) that is about to be unmapped or changed: no thread
// is in it when the program is told that this is done.
func (e *Engine) beforeForget(lo, hi uint64) {
	first, last := lo/pageSize, (hi-1)/pageSize
	if e.parallel() && (len(pagesIn(e.pages, first, last)) > 0 || len(pagesIn(e.guards, first, last)) > 0) {
		e.Halt()
	}
}

// othersLifted reports whether a fault was a write to a page that was protected by the engine,
// until another thread wrote there first.
func (e *Engine) othersLifted(x *cpu.Exit) bool {
	if !e.parallel() || e.cfg.Lookup == nil || x.Signal != int(syscall.SIGSEGV) || x.Code != segvAccErr || x.ErrNo&errWrite == 0 {
		return false
	}
	r, ok := e.cfg.Lookup(x.Addr)
	return ok && r.Write
}

// moved reports whether other threads have changed the code of a block while it was decoded. From
// now on it is protected.
func (t *translation) moved() bool {
	if !t.e.parallel() {
		return false
	}
	var buf [maxBytes]byte
	now, _ := t.e.fetch(t.b.pc, buf[:len(t.code)])
	return !bytes.Equal(now, t.code)
}

// Lengths of the opcodes in front of a rel32.
const (
	jmpOpcode = 1
	jccOpcode = 2
)

// alignLink makes the rel32 of the branch to come lie in one aligned word, so that it can be
// changed while threads run there.
func (t *translation) alignLink(opcode uint64) {
	const most = 4 // offset in the word
	if at := (t.a.Here() + opcode) % 8; t.e.parallel() && at > most {
		t.a.Bytes(nops[8-at]...)
	}
}

// alignHead does the same for the five bytes that may become the jump to a region.
func (t *translation) alignHead() {
	const most = 3
	if at := t.a.Here() % 8; t.e.parallel() && at > most {
		t.a.Bytes(nops[8-at]...)
	}
}

// nops are no-operations by their length (SDM vol. 2, NOP).
var nops = [...][]byte{{}, {0x90}, {0x66, 0x90}, {0x0f, 0x1f, 0x00}, {0x0f, 0x1f, 0x40, 0x00}}

// Call calls one thread out of guest code, if it is there, without waiting until it has left. It
// may be in vain.
func (e *Engine) Call(ctx *cpu.Context) {
	if cpu.PlaceOf(ctx) == cpu.InCode && atomic.LoadInt64(&ctx.Budget) > -callOut/2 {
		atomic.AddInt64(&ctx.Budget, -callOut)
	}
}
