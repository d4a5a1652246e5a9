package native

import (
	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/perf"
	"lime/internal/section"
	"lime/internal/unit"
)

// apply takes the next item in the order of time.
func (r *run) apply(x *item) {
	if !r.stretch.within(x.at) {
		return
	}
	r.clocks.now = max(r.clocks.now, x.at)
	r.clocks.pace.to(x.at)
	if x.hook != nil {
		r.applyHook(x)
		return
	}
	if do := r.kernel[x.typ]; do != nil {
		do(x)
	}
}

// applying has one row for each type of record that has a meaning in the order of time.
func (r *run) applying() map[perf.Type]func(*item) {
	return map[perf.Type]func(*item){
		perf.TypeFork: r.forked, perf.TypeExit: r.exited, perf.TypeComm: r.named,
		perf.TypeSwitch: r.switched, perf.TypeSample: r.sampling.sampled,
	}
}

func (r *run) forked(x *item) {
	if x.alien {
		r.aliens[x.tid] = true
		return
	}
	delete(r.aliens, x.tid)
	if r.roster.byTID[x.tid] == nil || r.roster.byTID[x.tid].ended {
		r.lives.startThread(x.tid, r.roster.byTID[x.other], x.at)
	}
}

func (r *run) exited(x *item) {
	if t := r.roster.byTID[x.tid]; t != nil {
		r.lives.endThread(t, x.at)
	}
}

func (r *run) named(x *item) {
	if t := r.roster.byTID[x.tid]; t != nil {
		t.name = x.name
	}
}

func (r *run) switched(x *item) {
	t := r.lives.thread(x.tid, x.at)
	if t.ended {
		return
	}
	if x.out {
		r.absences.hasLeft(t, x.at, x.forced)
		if r.clocks.pace.set(&t.paced, false, x.forced); t.off.now.yields {
			r.clocks.pace.loses(&t.paced)
		}
		t.others.total = t.others.at(r.clocks.pace.now, t.cpu.on)
		t.piece.ranOn(&t.cpu, x.at)
		t.cpu.out(x.at, x.forced)
		if t.hosts != nil {
			t.hosts.cpu.out(x.at, x.forced)
		}
		t.onTask = t.onTask && x.forced
		t.cond.off = t.cond.on && !x.forced
		return
	}
	yields := t.off.now.yields // it is in its loop still, as far as is known
	asleep, waited := r.absences.cameBack(t, x.at)
	r.clocks.pace.set(&t.paced, !yields, !yields)
	t.others.since = r.clocks.pace.now
	if !t.cpu.known { // it ran before lime could see
		t.piece.cpuFrom = t.cpu.total
	}
	t.cpu.in(x.at, asleep, waited)
	t.cpu.core, t.cpu.seen = x.core, true
	if t.hosts != nil {
		t.hosts.cpu.in(x.at, asleep, waited)
	}
	if t.cond.off {
		r.conditions.condOver(t, x.at)
	}
}

const noSection = -1

// waits reports whether the thread is known to wait: at a barrier, a join, for work.
func (t *thread) waits() bool {
	n := len(t.calls)
	if n == 0 {
		return t.idle
	}
	c := &t.calls[n-1]
	return !c.body && (c.role == known.Barrier || c.role == known.TeamBarrier || c.role == known.Join ||
		c.role == known.Gate || c.mpi != nil || c.over)
}

// gated reports whether the thread waits in code of the program's own.
func (t *thread) gated() bool {
	n := len(t.calls)
	return n > 0 && t.calls[n-1].gate != nil
}

// op is an operation without a piece.
func (t *thread) op(kind section.OpKind, at uint64) section.Op {
	return section.Op{Kind: kind, Thread: t.id, Other: section.NoThread, At: unit.Cycles(at)}
}

// applyHook takes the record of a hook.
func (r *run) applyHook(x *item) {
	h := x.hook
	if r.alien(h.TID) {
		return
	}
	t := r.lives.thread(h.TID, x.at)
	if t.ended {
		return
	}
	if g := r.candidates.gateOf(h); g != nil {
		if t.cond.on {
			r.conditions.condOver(t, x.at)
		}
		r.candidates.atGate(t, g, h, x.at)
		return
	}
	if h.Phase == hook.Enter && r.program.hooks != nil && r.program.hooks.Inner(h.Func) {
		r.places.outward(h)
	}
	if f := &r.program.table[h.Func]; t.cond.on && f.Hook != known.IfSlow && f.Hook != known.IfContended {
		r.conditions.condOver(t, x.at)
	}
	if h.Phase != hook.Begin && h.Phase != hook.End {
		t.unwindCalls(h.SP)
	}
	do := &r.hooked[r.program.table[h.Func].Role]
	switch h.Phase {
	case hook.Enter:
		do.enter(t, h, x.at)
	case hook.Return:
		if do.leave != nil {
			do.leave(t, h, x.at)
		}
	case hook.Begin:
		r.regions.beginWork(t, h, x.at)
	case hook.End:
		r.regions.endWork(t, x.at)
	}
}

// actions are what the call and the return of a function mean.
type actions struct {
	enter, leave func(*thread, *hook.Record, uint64)
}

// hooking has the actions of every role.
func (r *run) hooking() [known.Roles]actions {
	table := [known.Roles]actions{
		known.Barrier:       {r.barriers.enterBarrier, r.barriers.leaveBarrier},
		known.TeamBarrier:   {r.barriers.enterBarrier, r.barriers.leaveBarrier},
		known.Join:          {r.lives.enterJoin, r.lives.leaveJoin},
		known.Create:        {r.lives.enterCreate, r.lives.leaveCreate},
		known.Fork:          {r.regions.enterFork, r.regions.leaveFork},
		known.CondWait:      {r.conditions.enterCond, nil},
		known.CondWake:      {r.conditions.wake, nil},
		known.CondWakeAll:   {r.conditions.wake, nil},
		known.Lock:          {r.locks.locked, nil},
		known.ReadLock:      {r.locks.locked, nil},
		known.Turn:          {r.locks.locked, nil},
		known.Unlock:        {r.locks.unlocked, nil},
		known.GoIn:          {r.goroutines.enterGoIn, nil},
		known.GoOut:         {r.goroutines.enterGoOut, nil},
		known.GoPark:        {r.goroutines.enterGoPark, nil},
		known.GoReady:       {r.goroutines.enterGoReady, nil},
		known.GoEnd:         {r.goroutines.enterGoEnd, nil},
		known.GoLock:        {r.goroutines.enterGoLock, nil},
		known.GoUnlock:      {r.goroutines.enterGoUnlock, nil},
		known.GoCondList:    {r.goroutines.enterGoCondWait, nil},
		known.GoCondWakeAll: {r.goroutines.enterGoCondAll, nil},
		known.GoCount:       {r.goroutines.enterGoCount, nil},
		known.GoAwait:       {r.goroutines.enterGoAwait, nil},
		known.Futex:         {r.conditions.enterFutex, r.conditions.leaveFutex},
	}
	for x := known.Meet; x <= known.Message; x++ {
		table[x] = actions{r.mpiCalls.enterMPI, r.mpiCalls.leaveMPI}
	}
	return table
}
