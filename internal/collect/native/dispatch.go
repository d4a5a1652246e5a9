// Records of all kinds, in the order of time, on their way to the parts that know what they mean.

package native

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/perf"
)

// dispatcher takes what happened to a process, in the order of time.
type dispatcher struct {
	absences   *absences
	barriers   *barriers
	candidates *candidates
	clocks     *clocks
	conditions *conditions
	goroutines *goroutines
	lives      *lives
	locks      *locks
	mpiCalls   *mpiCalls
	permits    *permits
	places     *places
	program    *program
	regions    *regions
	roster     *roster
	sampling   *sampling
	shared     *shared
	stretch    *stretch
	tasks      *tasks

	kernel map[perf.Type]func(*item) // what records of the kernel do
	hooked [known.Roles]actions      // what calls of hooked functions do
	aliens map[int32]bool            // threads of child processes, which write into the same ring; false: known to be none
}

// alien reports whether a thread belongs to a child process: a fork takes the hooks along. If the
// kernel does not tell of forks, /proc does as long as the thread lives.
func (d *dispatcher) alien(tid int32) bool {
	is, known := d.aliens[tid]
	if known || d.shared.events.switches || d.roster.byTID[tid] != nil {
		return is
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err == nil {
		_, rest, _ := strings.Cut(string(status), "\nTgid:\t")
		group, _, _ := strings.Cut(rest, "\n")
		is = group != strconv.Itoa(int(d.program.pid))
	}
	if d.aliens[tid] = is; is {
		d.shared.child(tid, d.program)
	}
	return is
}

// apply takes the next item in the order of time.
func (d *dispatcher) apply(x *item) {
	if !d.stretch.within(x.at) {
		return
	}
	d.clocks.now = max(d.clocks.now, x.at)
	d.clocks.pace.to(x.at)
	if x.hook != nil {
		d.applyHook(x)
		return
	}
	if do := d.kernel[x.typ]; do != nil {
		do(x)
	}
}

// applying has one row for each type of record that has a meaning in the order of time.
func (d *dispatcher) applying() map[perf.Type]func(*item) {
	return map[perf.Type]func(*item){
		perf.TypeFork: d.forked, perf.TypeExit: d.exited, perf.TypeComm: d.named,
		perf.TypeSwitch: d.switched, perf.TypeSample: d.sampling.sampled,
	}
}

func (d *dispatcher) forked(x *item) {
	if x.alien {
		d.aliens[x.tid] = true
		return
	}
	delete(d.aliens, x.tid)
	if d.roster.byTID[x.tid] == nil || d.roster.byTID[x.tid].ended {
		t := d.lives.startThread(x.tid, d.roster.byTID[x.other], x.at)
		d.absences.hasLeft(t, x.at, true) // it could run, and waits for its first turn
	}
}

func (d *dispatcher) exited(x *item) {
	if t := d.roster.byTID[x.tid]; t != nil {
		d.lives.endThread(t, x.at)
	}
}

func (d *dispatcher) named(x *item) {
	if t := d.roster.byTID[x.tid]; t != nil {
		t.name = x.name
	}
}

func (d *dispatcher) switched(x *item) {
	t := d.lives.thread(x.tid, x.at)
	if t.ended {
		return
	}
	if x.out {
		d.absences.hasLeft(t, x.at, x.forced)
		if d.clocks.pace.set(&t.paced, false, x.forced); t.off.now.yields {
			d.clocks.pace.loses(&t.paced)
		}
		t.others.total = t.others.at(d.clocks.pace.sure, t.cpu.on)
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
	was := d.absences.cameBack(t, x.at)
	d.clocks.pace.set(&t.paced, !yields, !yields)
	t.others.since = d.clocks.pace.sure
	if !t.cpu.known { // it ran before lime could see
		t.piece.cpuFrom = t.cpu.total
	}
	t.cpu.in(x.at, was)
	t.cpu.core, t.cpu.seen = x.core, true
	if t.hosts != nil {
		t.hosts.cpu.in(x.at, was)
	}
	if t.cond.off {
		d.conditions.condOver(t, nil, x.at)
	}
}

// applyHook takes the record of a hook.
func (d *dispatcher) applyHook(x *item) {
	h := x.hook
	if d.alien(h.TID) {
		return
	}
	t := d.lives.thread(h.TID, x.at)
	if t.ended {
		return
	}
	if g := d.candidates.candidateOf(h); g != nil {
		if t.cond.on {
			d.conditions.condOver(t, nil, x.at)
		}
		d.candidates.atCandidate(t, g, h, x.at)
		return
	}
	if h.Phase == hook.Enter && d.program.hooks != nil && d.program.hooks.Inner(h.Func) {
		d.places.outward(h)
	}
	if f := &d.program.table[h.Func]; t.cond.on && f.Hook != known.IfSlow && f.Hook != known.IfContended {
		d.conditions.condOver(t, nil, x.at)
	}
	if h.Phase != hook.Begin && h.Phase != hook.End {
		t.unwindCalls(h.SP)
	}
	role := d.program.table[h.Func].Role
	do := &d.hooked[role]
	switch h.Phase {
	case hook.Enter:
		do.enter(t, h, x.at)
	case hook.Return:
		if do.leave != nil {
			do.leave(t, h, x.at)
		}
	case hook.Begin:
		d.regions.beginWork(t, h, x.at)
	case hook.End:
		if role == known.Fork {
			d.regions.endWork(t, x.at)
		} else {
			d.tasks.did(t, h, x.at)
		}
	}
}

// actions are what the call and the return of a function mean.
type actions struct {
	enter, leave func(*thread, *hook.Record, uint64)
}

// hooking has the actions of every role.
func (d *dispatcher) hooking() [known.Roles]actions {
	table := [known.Roles]actions{
		known.Barrier:       {d.barriers.enterBarrier, d.barriers.leaveBarrier},
		known.TeamBarrier:   {d.barriers.enterBarrier, d.barriers.leaveBarrier},
		known.Join:          {d.lives.enterJoin, d.lives.leaveJoin},
		known.Create:        {d.lives.enterCreate, d.lives.leaveCreate},
		known.Fork:          {d.regions.enterFork, d.regions.leaveFork},
		known.CondWait:      {d.conditions.enterCond, nil},
		known.CondWake:      {d.conditions.wake, nil},
		known.CondWakeAll:   {d.conditions.wake, nil},
		known.Lock:          {d.locks.locked, nil},
		known.ReadLock:      {d.locks.locked, nil},
		known.Turn:          {d.locks.locked, nil},
		known.Unlock:        {d.locks.unlocked, nil},
		known.GoIn:          {d.goroutines.enterGoIn, nil},
		known.GoOut:         {d.goroutines.enterGoOut, nil},
		known.GoPark:        {d.goroutines.enterGoPark, nil},
		known.GoReady:       {d.goroutines.enterGoReady, nil},
		known.GoEnd:         {d.goroutines.enterGoEnd, nil},
		known.GoLock:        {d.goroutines.enterGoLock, nil},
		known.GoUnlock:      {d.goroutines.enterGoUnlock, nil},
		known.GoCondList:    {d.goroutines.enterGoCondWait, nil},
		known.GoCondWakeAll: {d.goroutines.enterGoCondAll, nil},
		known.GoCount:       {d.goroutines.enterGoCount, nil},
		known.GoAwait:       {d.goroutines.enterGoAwait, nil},
		known.Task:          {d.tasks.made, nil},
		known.TaskObject:    {d.tasks.made, nil},
		known.SemInit:       {d.permits.counts, nil},
		known.SemWait:       {d.permits.takes, nil},
		known.SemPost:       {d.permits.givesBack, nil},
		known.Futex:         {d.conditions.enterFutex, d.conditions.leaveFutex},
	}
	for x := known.Meet; x <= known.Message; x++ {
		table[x] = actions{d.mpiCalls.enterMPI, d.mpiCalls.leaveMPI}
	}
	return table
}
