package engine

import (
	"errors"

	"lime/internal/cpu"
	"lime/internal/x86"
)

// maxChunk bounds the time for which Go cannot stop the thread, and keeps
// budgets below 2^31.
const maxChunk = 1 << 20

// minChunk is the distance of samples while hot code is being found; it doubles
// every coldSamples that find none.
const (
	minChunk    = 16 << 10
	coldSamples = 64
)

// Run runs ctx for about budget instructions, from ctx.RIP on.
func (e *Engine) Run(ctx *cpu.Context, budget int64) (x cpu.Exit) {
	defer full(&x)
	if e.cache == nil {
		return cpu.Exit{Reason: cpu.ExitUnsupported, Err: ErrClosed}
	}
	e.running = ctx
	if e.cfg.Mode == Trace {
		budget = min(budget, traceChunk)
		e.startTrace(ctx)
		defer e.endTrace(ctx)
	}
	if e.cfg.Mode == Log {
		if e.cfg.Full == nil {
			budget = min(budget, logChunk)
		}
		e.logs.start(ctx)
		defer e.logs.end(ctx)
	}
	pc := ctx.RIP
	skip := ctx.Scratch[cpu.SlotSkip] == pc && pc != 0
	for budget > 0 {
		ctx.Scratch[cpu.SlotSkip] = 0
		done, x := e.slice(ctx, min(budget, e.stride()), skip)
		ctx.Retired += uint64(done)
		budget -= done
		if skip = skip && done == 0 && ctx.RIP == pc; skip { // it was called out before it executed anything
			ctx.Scratch[cpu.SlotSkip] = pc
		}
		if x.Reason != cpu.ExitBudget || e.called {
			return x
		}
		e.learn(ctx)
		if e.cfg.Full != nil && budget > 0 {
			e.logs.end(ctx)
			e.cfg.Full(ctx)
			e.logs.start(ctx)
		}
	}
	return cpu.Exit{Reason: cpu.ExitBudget}
}

// stride is how far a slice goes.
func (e *Engine) stride() int64 {
	if e.cfg.Mode == Log {
		return logChunk
	}
	return max(e.chunk, minChunk)
}

// full turns the panic of a full table of edges into an exit.
func full(x *cpu.Exit) {
	switch err := recover().(type) {
	case nil:
	case fullError:
		*x = cpu.Exit{Reason: cpu.ExitUnsupported, Err: err.error}
	default:
		panic(err)
	}
}

// learn samples where a slice has ended, and takes fewer samples as long as
// they tell nothing new.
func (e *Engine) learn(ctx *cpu.Context) {
	if e.sample(ctx, ctx.RIP) {
		e.cold, e.chunk = 0, minChunk
		return
	}
	if e.cold++; e.cold%coldSamples == 0 {
		e.chunk = min(max(e.chunk, minChunk)*2, maxChunk)
	}
}

// slice runs n instructions or a few more, and returns how many it ran.
func (e *Engine) slice(ctx *cpu.Context, n int64, skip bool) (int64, cpu.Exit) {
	ctx.Budget = n
	ctx.Scratch[slotRegion] = 0
	host, x := e.resume(ctx, skip)
	for host != 0 {
		ctx.ExitReason = cpu.ExitNone
		e.enter(ctx, host)
		host, x = e.handle(ctx)
	}
	e.answer(ctx)
	return n - ctx.Budget, x
}

// resume returns where to enter for ctx.RIP, or 0 and the exit.
func (e *Engine) resume(ctx *cpu.Context, skip bool) (uint64, cpu.Exit) {
	b, err := e.block(ctx.RIP)
	if err != nil {
		return 0, exitOf(err)
	}
	if skip {
		return b.body, cpu.Exit{}
	}
	return b.entry, cpu.Exit{}
}

// exitOf returns the exit of an error of Engine.block.
func exitOf(err error) cpu.Exit {
	var u *unrunnable
	if errors.As(err, &u) {
		return u.exit
	}
	return cpu.Exit{Reason: cpu.ExitUnsupported, Err: err}
}

// handle looks at why generated code came back. It returns where to go on, or 0
// and the exit for the caller.
func (e *Engine) handle(ctx *cpu.Context) (uint64, cpu.Exit) {
	if ctx.ExitReason == cpu.ExitFault {
		return e.fault(ctx)
	}
	x := e.exits[ctx.ExitInfo]
	ctx.RIP = x.target
	switch x.kind {
	case exitLink:
		return e.follow(ctx, x)
	case exitBudget:
		return e.usedUp(ctx, x)
	case exitSite, exitRet:
		return e.missed(ctx, x)
	case exitProbe:
		ctx.Scratch[cpu.SlotSkip] = ctx.RIP
		return 0, cpu.Exit{Reason: cpu.ExitProbe}
	case exitRepeat:
		ctx.Scratch[cpu.SlotSkip] = ctx.RIP
		return 0, cpu.Exit{Reason: cpu.ExitRepeat}
	case exitSyscall:
		return 0, cpu.Exit{Reason: cpu.ExitSyscall}
	case exitEmulate:
		return 0, cpu.Exit{Reason: cpu.ExitEmulate, Len: x.length}
	}
	if x.target < x.from.end() {
		ctx.Budget++ // a fault: the instruction has not been executed
		front, tail := x.from.cutAt(e, ctx.RIP)
		front.ranTo(e, ctx, tail)
	}
	return 0, x.trap
}

// follow links a direct branch.
func (e *Engine) follow(ctx *cpu.Context, x *exit) (uint64, cpu.Exit) {
	b, err := e.block(x.target)
	if err != nil {
		return 0, exitOf(err)
	}
	return e.link(x, b), cpu.Exit{}
}

// usedUp ends the slice, or lets the block run if some budget was left at its head.
func (e *Engine) usedUp(ctx *cpu.Context, x *exit) (uint64, cpu.Exit) {
	n := int64(x.from.n)
	gone := e.parallel() && x.from.stale // dropped, perhaps overwritten, while the thread waited for the lock
	if ctx.Budget+n > 0 && !gone {
		return x.from.after, cpu.Exit{}
	}
	ctx.Budget += n
	return 0, cpu.Exit{Reason: cpu.ExitBudget}
}

// missed makes the stub for an indirect branch that found none.
func (e *Engine) missed(ctx *cpu.Context, x *exit) (uint64, cpu.Exit) {
	target := ctx.GPR[x86.RAX]
	ctx.GPR[x86.RAX] = ctx.Scratch[slotA]
	ctx.GPR[x86.RCX] = ctx.Scratch[slotB]
	ctx.RIP = target
	b, err := e.block(target)
	if err != nil {
		return 0, exitOf(err)
	}
	id := e.arrival(x, b)
	slot, miss := e.slotOf(x, target)
	if slot != 0 {
		e.addStub(b, slot, miss, id) // without it the next one comes here again
	}
	if id >= 0 {
		ctx.Counters(int(id) + 1)[id]++
	}
	return b.entry, cpu.Exit{}
}

// arrival returns the edge by which an indirect branch reaches b, or -1 where edges do not count.
func (e *Engine) arrival(x *exit, b *block) EdgeID {
	switch {
	case e.cfg.Mode == Plain:
		return -1
	case x.kind == exitSite:
		return e.edgeBetween(e.leftBy(x.from), x.edge, b)
	}
	return returned(e, b)
}

// slotOf returns the table slot for target and what it holds when empty; 0 if the
// table is gone because the cache was emptied.
func (e *Engine) slotOf(x *exit, target uint64) (slot, miss uint64) {
	switch {
	case x.kind == exitRet:
		return e.retSlot(target), e.retMiss.stub
	case x.from.stale:
		return 0, 0
	}
	return siteSlot(x.table, target), x.stub
}
