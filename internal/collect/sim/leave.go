package sim

import (
	"lime/internal/collect/known"
	"lime/internal/engine"
	"lime/internal/section"
	"lime/internal/unit"
)

// leave handles the return from a function of the table, or its end by a
// longjmp or an exception.
func (r *run) leave(t *thread, c *call) {
	if do := leavings()[c.fn.Role]; do != nil {
		do(r, t, c)
	}
}

// leaving is what the end of a call means.
type leaving func(*run, *thread, *call)

func leavings() [known.Roles]leaving {
	table := [known.Roles]leaving{
		known.Barrier:     (*run).leaveBarrier,
		known.TeamBarrier: (*run).leaveBarrier,
		known.TeamReduce:  (*run).leaveBarrier,
		known.Join:        (*run).leaveJoin,
		known.Create:      (*run).leaveCreate,
		known.Fork:        (*run).leaveFork,
		known.Lock:        (*run).leaveLock,
		known.TryLock:     (*run).leaveTryLock,
		known.ReadLock:    (*run).leaveReadLock,
		known.Turn:        (*run).leaveTurn,
		known.CondWait:    (*run).leaveCondWait,
		known.Gate:        (*run).leaveGate,
		known.TaskWait:    (*run).leaveTaskWait,
		known.TaskBody:    (*run).leaveTaskBody,
		known.GoLock:      (*run).leaveGoLock,
		known.GoCondWait:  (*run).leaveGoCondWait,
		known.GoAwait:     (*run).leaveAwait,
		known.RegionBody:  (*run).leaveBody,
		known.PoolRun:     (*run).leavePoolRun,
	}
	for x := known.Meet; x <= known.Message; x++ {
		table[x] = (*run).leaveMPI
	}
	table[known.MeetDeclared] = (*run).leaveDeclared
	return table
}

// simple is an operation without a piece.
func (t *thread) simple(kind section.OpKind, object uint64) section.Op {
	return section.Op{Kind: kind, Thread: t.id, Other: section.NoThread, At: unit.Cycles(t.now()), Object: object}
}

// outside is the stack once the call has returned.
func (r *run) outside(t *thread, c *call) []frameRef {
	if c.piece != nil && len(c.piece.stack) > 0 && c.piece.stack[0].ret == t.ctx.RIP {
		return c.piece.stack[1:]
	}
	return r.stack(t)
}

func (r *run) leaveBarrier(t *thread, c *call) {
	if !c.told {
		return
	}
	r.beside.leaves(t, c)
	r.feed(t.simple(section.OpLeave, c.object))
	r.begin(t, outCall, r.outside(t, c))
}

func (r *run) leaveJoin(t *thread, c *call) {
	if !c.told {
		return
	}
	r.beside.since(t, c.at, c.other.at)
	op := t.simple(section.OpJoinEnd, 0)
	op.Other = c.other.id
	r.feed(op)
	r.begin(t, outCall, r.outside(t, c))
}

// leaveCreate: if no thread came of it, the piece goes on.
func (r *run) leaveCreate(t *thread, c *call) {
	switch {
	case c.create != nil:
		p := c.create.Span.(*piece)
		r.reopened(t, p)
		t.keepFor(p)
		t.locks, t.given = append(t.locks, p.locks...), append(t.given, p.given...)
		t.piece = p.start
	case c.created:
		op, _ := r.cutOp(t, section.OpCreated)
		op.Site = c.site
		r.feed(op)
	}
}

func (r *run) leaveFork(t *thread, c *call) {
	if k := r.forkWith(c.object); k != nil && t.rests >= k.at {
		r.beside.since(t, t.rests, k.last)
	}
	r.closeFork(c.object)
	if n := len(t.regions); n > 0 && t.regions[n-1] == c.object {
		t.regions = t.regions[:n-1]
	}
	r.feed(t.simple(section.OpRegionEnd, c.object))
	r.begin(t, outCall, r.outside(t, c))
}

func (r *run) leaveBody(t *thread, c *call) {
	op, _ := r.cutOp(t, section.OpMemberEnd)
	op.Object = c.object
	r.feed(op)
	t.rests = t.now()
	if k := r.forkWith(c.object); k != nil {
		k.last = max(k.last, t.rests)
	}
	if f := t.in(known.Fork); f != nil && f.object == c.object {
		f.done = true
		return
	}
	if n := len(t.regions); n > 0 {
		t.regions = t.regions[:n-1]
	}
	t.idle = true
}

// leaveLock: the lock is free at the clock at which it was last given back, even if
// that thread's slice came first.
func (r *run) leaveLock(t *thread, c *call) {
	r.beside.gets(t, c)
	t.still.suspect = false // it was to spin in the call
	before := t.now()
	r.advance(t, r.freeAt(t, c.object))
	r.holders[c.object] = t
	r.lockBook.taken(c.object, c.ret)
	r.locked(t, c, t.now()-before)
}

// locked tells of the wait for a lock that t has got; more is what it had to wait after the call.
func (r *run) locked(t *thread, c *call, more uint64) {
	wait := c.waited + more
	if c.slow {
		r.dropSlow(t, c)
		wait = t.now() - c.at
	}
	r.tellLocked(t, c, wait)
}

func (r *run) tellLocked(t *thread, c *call, wait uint64) {
	if wait == 0 {
		return
	}
	op := t.simple(section.OpLockBegin, c.object)
	op.At -= unit.Cycles(wait)
	r.feed(op)
	r.feed(t.simple(section.OpLockEnd, c.object))
	site := r.lockSite(t, c)
	t.noteLock(site, wait)
	r.waited(t, site, c.object, c.holder, wait)
}

// leaveReadLock: other readers may hold it, so it does not matter when it was given back.
func (r *run) leaveReadLock(t *thread, c *call) { r.locked(t, c, 0) }

// leaveTurn: the call is a wait if it took longer than it does without one.
func (r *run) leaveTurn(t *thread, c *call) {
	const atOnce = 500
	if c.waited > 0 || t.now()-c.at > atOnce {
		r.dropSlow(t, c)
		r.tellLocked(t, c, t.now()-c.at)
	}
}

// openSlow opens a call in which the thread will do nothing but wait: what it does for that
// (spinning, going to sleep) is no work.
func (r *run) openSlow(t *thread, f *fn) {
	r.keep(t)
	c := r.open(t, f)
	c.slow, c.busy = true, t.busy
}

// keep takes what the counters hold into the piece under way, but for what is spent on waiting.
func (r *run) keep(t *thread) {
	p := &piece{}
	r.drain(t, p)
	r.keepWorked(t, p)
}

// keepWorked lets a piece's counts go on in the piece under way, but for what is spent on waiting.
func (r *run) keepWorked(t *thread, p *piece) {
	if n := len(t.frames); n > 0 && t.frames[n-1].slow {
		r.keepReturn(t, p, &t.frames[n-1])
		return
	}
	t.keepFor(p)
}

// keepReturn forgets what was counted in a call that waits, but for the return from it.
func (r *run) keepReturn(t *thread, p *piece, c *call) {
	r.without(t, outCall, p.edges)
	for _, e := range p.edges {
		if r.returnsTo(e.id, c.ret) {
			t.carry = append(t.carry, edgeCount{e.id, 1})
		}
	}
}

// dropSlow forgets what was counted in such a call, but for the return from it.
func (r *run) dropSlow(t *thread, c *call) {
	p := &piece{}
	r.drain(t, p)
	r.keepReturn(t, p, c)
	if t.gopher == nil {
		t.busy = min(t.busy, c.busy)
	}
}

func (r *run) returnsTo(id engine.EdgeID, ret uint64) bool {
	d := &r.eng.Edges()[id]
	return d.Kind == engine.EdgeReturn && d.Target == ret
}

func (r *run) leaveTryLock(t *thread, c *call) {
	if t.ctx.GPR[rax] == 0 {
		r.leaveLock(t, c)
	}
}

// lockSite is the program's own call that led to the lock.
func (r *run) lockSite(t *thread, c *call) uint64 {
	if c.test != 0 {
		return c.test
	}
	if r.images.own(c.ret - 1) {
		return r.blocks.callBefore(c.ret)
	}
	return uint64(r.site(0, append([]frameRef{{ret: c.ret}}, r.stack(t)...)).Place())
}

func (r *run) leaveCondWait(t *thread, c *call) {
	r.waiters[c.object]--
	r.advance(t, r.freeAt(t, c.lock))
	r.holders[c.lock] = t
	r.waitOver(t, r.outside(t, c))
}

// waitOver tells the end of a wait. If it ended a section, what the thread did in it is dropped; if
// it was for work to do, it is no event either: that time is idleness of the section.
func (r *run) waitOver(t *thread, stack []frameRef) {
	waited := t.at - min(t.at, t.waitAt)
	t.waitsOn = waitsNot
	op := t.simple(section.OpWaitEnd, 0)
	op.Idle = !t.untyped
	r.feed(op)
	if r.rec.Ended(t.id) {
		r.begin(t, outCall, stack)
		r.comeHome(t, stack)
		return
	}
	r.resume(t, stack)
	if call := r.site(0, stack).Place(); call != 0 && waited > 0 && !op.Idle {
		t.note(offCPU, uint64(call), waited)
	}
}
