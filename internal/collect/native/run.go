package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/collect"
	"lime/internal/collect/native/hook"
	"lime/internal/perf"
	"lime/internal/sender"
)

// shared is what all processes of a recording have in common.
type shared struct {
	o        Options
	clock    tscClock
	waste    *wasting // nil: nobody looks for waste
	rows     int      // of threads in the profile
	notes    collect.Notes
	traces   *collect.Traces
	events   *events
	fresh    bool // a place of a call was seen for the first time since the last tick
	children map[int32]*child
	programs int // of children, whose code is looked at
	lines    lines
	watched  []*process      // children with hooks of their own
	rosters  []*roster       // of all processes
	plain    map[string]bool // programs that call no synchronisation function, by path
}

// run is a recording: of the program, and of the children that are hooked.
type run struct {
	*shared
	main *process // the program, whose children are watched

	keepAt uint64
	relay  sender.Relay
}

// Run records a program until it ends, or ctx is cancelled. The profile so far is kept whatever
// happens.
func Run(ctx context.Context, o Options) (Result, error) {
	if o.Signals == nil {
		ch := make(chan os.Signal, sender.Waiting)
		Notify(ch)
		defer signal.Stop(ch)
		o.Signals = ch
	}
	if res, err := early(o.Signals); err != nil {
		return res, err
	}
	r := newRun(o.withDefaults())
	err := errors.Join(checkProc(), checkAddresses())
	if err != nil {
		return Result{Status: statusFailed}, err
	}
	if r.o.PID != 0 {
		err = r.attach()
	} else {
		err = r.start()
	}
	if err != nil {
		if res, interrupted := early(o.Signals); interrupted != nil {
			return res, interrupted
		}
		return Result{Status: failStatus(err), EndState: ""}, err
	}
	defer r.close()
	if err := r.o.Out.UpdateMeta(r.meta("running")); err != nil {
		return Result{Status: statusFailed}, err
	}
	r.startWaste()
	return r.loop(ctx)
}

func newRun(o Options) *run {
	o.Out = &distinct{Sink: o.Out, kinds: map[string]int32{}}
	s := &shared{o: o, notes: collect.Notes{}, traces: collect.NewTraces(o.Traces), children: map[int32]*child{},
		plain: map[string]bool{}, lines: lines{}}
	s.events = &events{o: &s.o, notes: s.notes, kinds: map[string]bool{}, eventIDs: map[uint64]string{}}
	return &run{shared: s, main: newProcess(s), keepAt: firstKeep}
}

// start launches the program.
func (r *run) start() error {
	r.clock.tick()
	prog, err := launch(&r.o, r.prepare, func() []hook.Candidate { return r.main.program.code.findCandidates() })
	if err != nil {
		return err
	}
	r.main.absences.standsStill(r.main.clocks.started, prog.freed)
	r.main.program.prog = prog
	r.main.program.ring = prog.ring
	if prog.hooks != nil {
		r.main.takeHooks(prog.hooks)
	}
	r.explain()
	return nil
}

// prepare opens the events of a stopped program.
func (r *run) prepare(pid int) error {
	r.main.program.pid = int32(pid)
	if err := r.main.look(); err != nil {
		return err
	}
	if !r.o.NoPerf {
		r.events.openPerf(perf.Options{PID: pid})
	}
	r.main.program.name = threadName(pid, pid)
	r.main.clocks.started = monotonic()
	r.main.stretch.asked(&r.o.Region)
	r.main.lives.startThread(r.main.program.pid, nil, r.main.clocks.started)
	return r.events.enable()
}

// explain notes what is missing.
func (r *run) explain() {
	if err := r.main.program.prog.why; err != nil {
		r.notes.Add("no-hooks", fmt.Sprintf("sections are not seen, only the whole run: %v", err))
	}
	if !r.events.switches {
		r.notes.Add("no-switches", "times are those on the wall: more threads than cores spoil them")
	}
}

func (r *run) close() {
	for _, s := range r.events.sessions() {
		s.Close()
	}
	for _, p := range r.all() {
		p.closeRing()
	}
	r.main.program.images.close()
}

// tick is how long lime sleeps between two looks at the rings if none is half full; at first
// shorter, because the stacks at the first calls of a place must be read while they last, and
// longer when no new place comes.
const (
	firstTick = 10 * time.Millisecond
	tick      = 100 * time.Millisecond
	longTick  = 400 * time.Millisecond
)

// rest is how long lime may sleep after it has slept for some time.
func (r *run) rest(last time.Duration) time.Duration {
	most := time.Duration(longTick)
	if r.fresh {
		most = tick
	}
	r.fresh = false
	if r.events.leavings.paused {
		most = tick
	}
	return min(2*last, most)
}

// loop drains the rings until the program is gone.
func (r *run) loop(ctx context.Context) (Result, error) {
	done := make(chan *os.ProcessState, 1)
	go r.wait(done)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := r.signals(cancel)
	defer stop()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the cores are the program's: threads that look for goroutines to run take them away
	full := make(chan struct{}, 1)
	for _, s := range r.events.sessions() {
		s.Notify(full)
	}
	var state *os.ProcessState
	interrupted, through := false, false
	for wait := time.Duration(firstTick); state == nil && !interrupted && !through; wait = r.rest(wait) {
		for slept := time.Duration(0); slept == 0 || slept < wait && state == nil && !interrupted && !through && !r.crowded(); {
			over, left := r.main.stretch.over()
			through = over
			step := r.events.short.due(time.Now(), min(wait-slept, tick, left))
			slept += step
			due := time.NewTimer(step)
			select {
			case state = <-done:
			case <-ctx.Done():
				interrupted = true
			case <-due.C:
			case <-full:
				slept = wait
			}
			due.Stop()
			r.events.short.turn(time.Now())
		}
		r.drain(lag)
		if r.lookAtAll() {
			wait = min(wait, lookTick/2)
		}
		r.keep()
	}
	r.endWaste()
	if through {
		r.main.clocks.now = max(r.main.clocks.now, min(r.main.stretch.ends, monotonic()))
	}
	if err := r.unhook(); err != nil {
		r.notes.Add("hooked", err.Error())
	}
	r.drain(0)
	res, err := r.finish(state, interrupted)
	if through && r.main.program.prog != nil {
		return goesOn(r, res, err, done)
	}
	return res, err
}

// crowded reports whether the hooks' ring must be read before it gets full.
func (r *run) crowded() bool {
	return slices.ContainsFunc(r.all(), func(p *process) bool { return p.program.ring != nil && p.program.ring.Crowded() })
}

// firstKeep is when what is summed up over the run is written for the first time, in ns; each next
// time is twice as late, so that a run that is killed keeps at least half of it, and a long one
// grows little.
const firstKeep = 1_000_000_000

// keep writes what a run that is killed would lose.
func (r *run) keep() {
	if r.main.clocks.now < r.main.clocks.started+r.keepAt {
		return
	}
	r.keepAt = max(2*r.keepAt, firstKeep)
	for _, p := range r.all() {
		p.out.close()
	}
	m := r.meta("running")
	r.measured(&m)
	m.CoreTime, m.Notes = 0, r.report(r.main.clocks.now-r.main.clocks.started)
	_ = r.o.Out.UpdateMeta(m) // the end of the run tells of an error
}

// wait waits for the program's end.
func (r *run) wait(done chan<- *os.ProcessState) {
	if r.main.program.prog == nil {
		for unix.Kill(int(r.main.program.pid), 0) == nil {
			time.Sleep(tick)
		}
		done <- &os.ProcessState{}
		return
	}
	r.main.program.prog.awaitEnd()
	_ = r.main.program.prog.cmd.Wait() // the status says it all
	if state := r.main.program.prog.cmd.ProcessState; state != nil {
		done <- state
	} else { // it ended under ptrace while it was hooked: its status was taken then
		done <- &os.ProcessState{}
	}
}

// drain reads all rings and takes what is old enough.
func (r *run) drain(age uint64) {
	now := monotonic()
	for _, s := range slices.Backward(r.events.session) { // the kernel's tasks and mappings first: samples need them
		r.drainRing(s)
	}
	if r.waste != nil {
		r.waste.host.take(r.main.stream.add)
	}
	r.compare()
	if r.events.execs != nil {
		_ = r.events.execs.Drain(func(*perf.Record) {}) // they stand in the others' rings, too
	}
	r.events.keepWithin(now, r.running())
	r.main.takeUntil(now, age)
	for _, p := range r.watched {
		p.takeUntil(now, age)
		p.endIfGone()
	}
}

func (r *run) drainRing(s *perf.Session) {
	if err := s.Drain(r.record); err != nil {
		r.notes.Add("damaged-record", err.Error())
	}
}

// takeUntil takes what is old enough, of one process.
func (p *process) takeUntil(now, age uint64) {
	p.drainHooks(age == 0)
	before := now - age
	if age == 0 {
		before = ^uint64(0)
	} else if p.program.ring != nil {
		before = min(before, p.stream.held)
	}
	p.stream.take(before, p.dispatcher.apply)
	if p.program.ring != nil {
		p.program.ring.Release(cmp.Or(p.stream.first, p.program.ring.Scanned()+1) - 1)
	}
}

// drainHooks reads the hooks' ring. Time stamps are converted when the clock has been read behind
// them: then two keep their order, whichever of them is read first.
func (p *process) drainHooks(last bool) {
	if p.program.ring == nil {
		return
	}
	p.stamps = p.stamps[:0]
	take := func(number, tsc uint64) { p.stamps = append(p.stamps, stamp{number, tsc}) }
	sure, whole := p.program.ring.Scan(rdtsc(), take)
	gone := !whole && (last || unix.Kill(int(p.program.pid), 0) != nil) // nobody will write what is missing
	if gone {
		p.program.ring.ScanRest(take)
	}
	p.shared.clock.tick()
	for _, s := range p.stamps {
		p.stream.addHook(p.shared.clock.nanos(s.tsc), s.number)
	}
	p.stream.held = p.shared.clock.nanos(sure)
	if gone {
		p.stream.held = math.MaxUint64
	}
}

// stamp is a record's number and time stamp.
type stamp struct{ number, tsc uint64 }

// record takes a record of the kernel's as it is read.
func (r *run) record(rec *perf.Record) {
	if rec.Type == perf.TypeFork {
		r.tellAliens(rec)
	}
	if rec.PID != r.main.program.pid && rec.Type != perf.TypeLost {
		if rec.PID > 0 {
			r.childRecord(rec)
		}
		return
	}
	r.main.ownRecord(rec)
}

// ownRecord takes a record of the process itself.
func (p *process) ownRecord(rec *perf.Record) {
	p.absences.scheduler.record(rec)
	x := item{at: rec.Time, typ: rec.Type, tid: rec.TID, other: rec.ParentTID, out: rec.Out, forced: rec.Preempted, core: rec.CPU}
	switch rec.Type {
	case perf.TypeMmap2:
		if rec.Prot&unix.PROT_EXEC != 0 && p.program.images.mapped(rec.Name, rec.Addr, rec.Addr+rec.Len, rec.Offset) {
			p.program.sampler.walker.Forget()
		}
		return
	case perf.TypeLost:
		p.shared.events.lost += rec.Lost
		return
	case perf.TypeThrottle:
		p.shared.events.throttle++
		return
	case perf.TypeSample:
		switch kind := p.shared.events.eventName(rec.Event); kind {
		case "", shortClock:
			x.detail = &detail{short: kind == shortClock}
			x.sample, x.spins, x.inside = p.program.sampler.take(rec)
		case perf.Switches().Name:
			x.detail = &detail{left: p.program.sampler.leaving(rec)}
			p.shared.events.leftSamples++
		default:
			if p.program.sampler.stubs != nil && p.program.sampler.stubs(rec.IP) { // a page of the ring that nobody had written to: lime's
				return
			}
			x.event = &eventCount{eventKey{kind, p.program.sampler.origin(rec.IP)}, max(rec.Period, 1)}
		}
	case perf.TypeComm:
		x.detail = &detail{name: rec.Name}
		if rec.Exec {
			p.replaced()
			p.hookAgain()
		}
	}
	p.stream.add(x)
}

// cores is how many CPUs this process may use.
func cores() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) == nil {
		return set.Count()
	}
	return 1
}
