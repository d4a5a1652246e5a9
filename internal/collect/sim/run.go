// The run: which core goes next, and how far.

package sim

import (
	"context"
	"fmt"
	"time"

	"lime/internal/collect"
	"lime/internal/cpu"
	"lime/internal/engine"
	"lime/internal/futex"
	"lime/internal/guest"
	"lime/internal/profile"
	"lime/internal/section"
	"lime/internal/unit"
)

// Lengths in instructions.
const (
	sliceLength   = 5_000     // a slice while several threads run
	soloLength    = 20_000    // a slice while one thread runs
	quantumLength = 1_000_000 // a thread's turn while others wait for a core
	suspectLength = 500       // what a thread gets that may be about to spin
)

// run is one simulated run of a program.
type run struct {
	memory     *memory
	counting   *counting
	clocks     *clocks
	probes     *probes
	roster     *roster
	places     *places
	tailCalls  *tailCalls
	dataFinder *dataFinder
	operations *operations
	rounds     *rounds
	segments   *segments
	sampling   *sampling
	spinners   *spinners
	passPoints *passPoints
	entrances  *entrances
	queues     *queues
	openCalls  *openCalls
	locks      *locks
	turns      *inTurn
	awaiting   *awaiting
	barriers   *barriers
	regions    *regions
	lineages   *lineages
	tasks      *tasks
	precedence *precedence
	loops      *loops
	passes     *passes
	waits      *waits
	parking    *parking
	trials     *trials
	waking     *waking
	mpiCalls   *mpiCalls
	lives      *lives
	goroutines *goroutines
	ending     *ending
	dispatcher *dispatcher
	exits      *exits
	loader     *loader

	mu     futex.Mutex // threads in parallel: held by whoever is not in the program's code
	beside *beside     // nil: one thread runs at a time, in simulated time
	cfg    Config
	eng    *engine.Engine
	meter  Meter
	cores  *cores

	images   *images
	numbers  *numbering  // nil: nobody asks for the numbers of the parts
	even     *evening    // nil: the threads take the time that they take
	heap     *heapBook   // with a machine: what the program has allocated
	waste    *wasteMeter // nil: nobody looks for wasted memory work
	focus    *focus      // nil: the whole run is measured
	blocks   *blockIndex
	rec      *section.Recogniser
	out      *output
	notes    collect.Notes
	progress *progress
	end      *end
	// called when the counting is over and the program goes on
	whenCounted func()
	unrelay     func() // no more signals come from outside after it
}

func newRun(cfg Config, meter Meter, sink profile.Sink) (*run, error) {
	r := &run{
		cfg: cfg, meter: meter, cores: newCores(cfg.Cores, quantumLength), images: &images{}, blocks: &blockIndex{},
		even: newEvening(cfg.Even), notes: collect.Notes{}, end: &end{}, memory: &memory{},
	}
	if cfg.NumberParts {
		r.numbers = &numbering{}
	}
	r.focus = newFocus(r)
	engineConfig := engine.Config{AllHostFeatures: cfg.HostCPU, Lookup: r.memory.lookup}
	if cfg.Parallel {
		r.mu.Lock() // to be given up while threads run, and for good when the process ends
		r.beside = newBeside(r)
		r.cores.given, engineConfig.Lock = r.beside.given, &r.mu
	}
	meter.Record(&engineConfig)
	eng, err := engine.New(engineConfig)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	r.eng = eng
	r.blocks.init(eng)
	var data *dataBook
	if mm, ok := meter.(*machineMeter); ok {
		mm.eng = eng
		r.heap, data = newHeap(), newDataBook()
	}
	if wm, ok := meter.(*wasteMeter); ok {
		r.waste, wm.r = wm, r
		r.heap = newHeap()
	}
	r.out = newOutput(r, sink)
	r.rec = section.New(r.out.instance)
	r.wire(data)
	if mm, ok := meter.(*machineMeter); ok {
		mm.read, mm.sampled = r.memory.code, r.dataFinder.sampled
	}
	return r, r.load()
}

// load starts the guest process.
func (r *run) load() error {
	p, err := guest.New(guest.Config{
		Path: r.cfg.Cmd, Args: r.cfg.Args, Env: r.cfg.Env, Cores: r.cfg.Cores, HostCPU: r.cfg.HostCPU,
		Parallel: r.beside.guest(), FollowExec: r.cfg.Children != "", Lime: r.cfg.Parent, Found: *r.cfg.Found,
	}, &host{r})
	if err != nil {
		return err
	}
	r.memory.proc = p
	t := r.roster.addThread(p.Main(), nil)
	r.out.thread(t)
	r.operations.feed(section.Op{Kind: section.OpStart, Thread: t.id, Other: section.NoThread})
	r.segments.begin(t, outWay, nil)
	r.cores.place(t)
	return nil
}

// loop runs the program to its end, or until ctx is cancelled.
func (r *run) loop(ctx context.Context) {
	if r.beside != nil {
		r.beside.tend(ctx)
		return
	}
	const often = 64 * sliceLength // instructions between looks at the world outside, however long a slice is
	for n := uint64(often); !r.end.over; n += sliceLength {
		if n >= often {
			n = 0
			r.housekeeping(ctx)
		}
		k := r.cores.next()
		if k == nil {
			r.idle()
			continue
		}
		if len(r.spinners.parked) > 0 && r.waking.resumeDue(k.clock) {
			continue
		}
		r.focus.due()
		r.timers(k)
		if k == r.cores.next() && k.busy != nil {
			before := k.clock
			r.slice(k)
			n += k.clock - before
		}
	}
}

// housekeeping is what does not depend on simulated time, and does not change it.
func (r *run) housekeeping(ctx context.Context) {
	r.progress.show(r)
	if ctx.Err() != nil && !r.end.over {
		r.ending.stop("interrupted", nil)
	}
	if r.memory.proc.HostWaiters() > 0 {
		r.exits.handling(nil, func() { r.memory.proc.PollHost(0) })
	}
}

// timers lets time-outs happen before a core runs that has passed them.
func (r *run) timers(k *core) {
	if at, ok := r.memory.proc.NextDeadline(); ok && r.clocks.clock(at) <= k.clock {
		r.exits.handling(nil, func() { r.memory.proc.Advance(r.clocks.nanos(k.clock)) })
	}
}

// idle is when no thread runs on: those that only seem to wait do so after all; the clock jumps, or
// the host is waited for, or nothing can ever happen again.
func (r *run) idle() {
	if r.waking.resumeFirst() || r.waking.interrupted() || r.waking.seeChanges() {
		return
	}
	if r.waking.outsiders() && r.awaitOutsiders() {
		return
	}
	progress := false
	r.exits.handling(nil, func() {
		then, ok := r.memory.proc.Idle(r.clocks.nanos(r.clocks.latest))
		progress = ok
		r.clocks.latest = max(r.clocks.latest, r.clocks.clock(then))
	})
	if progress || len(r.cores.active) > 0 || r.waking.interrupted() || r.waking.seeChanges() {
		return
	}
	r.ending.deadlock()
}

// awaitOutsiders gives other processes time to change the memory on which somebody spins, or to
// send something; a time-out of the program's own does not wait for them. It reports whether it
// should be looked again.
func (r *run) awaitOutsiders() bool {
	r.exits.handling(nil, func() { r.memory.proc.PollHost(time.Millisecond) })
	_, timed := r.memory.proc.NextDeadline()
	return !timed || len(r.cores.active) > 0 || r.waking.seeChanges()
}

// slice runs the thread of core k for a while.
func (r *run) slice(k *core) {
	t := k.busy
	r.segments.reportQueued(t)
	if x := t.pending; x != nil { // left over from a trial
		t.pending = nil
		if !r.exits.handle(t, *x) {
			return
		}
	}
	if t.probed != 0 { // its turn has come
		t.probed = 0
		if !r.counting.over() && !r.dispatcher.probe(t) {
			return
		}
	} else if !r.exits.act(t, r.exits.enter(t)) {
		return
	}
	r.execute(t, r.short(t, r.budget(k)))
}

// short shortens a turn of a thread that is about to wait, as far as can be told: others may see
// soon what it does. In parallel they do anyway.
func (r *run) short(t *thread, budget int64) int64 {
	if r.beside != nil {
		return budget
	}
	if t.still.suspect {
		budget = min(budget, suspectLength)
	}
	return t.inCandidate(budget)
}

// budget is how far core k may run.
func (r *run) budget(k *core) int64 {
	clock, other := r.cores.behind(k)
	if r.beside != nil {
		return r.beside.turn(k.busy)
	}
	if other == nil && len(r.spinners.parked) == 0 {
		return r.alone(k)
	}
	if other == nil { // whoever spins is to see soon what this thread does
		return r.meter.Turn(k.n)
	}
	return r.meter.Within(k.n, clock-min(k.clock, clock)) + r.meter.Turn(k.n)
}

// alone is how far core k runs while no other one does: to the next time-out at most, after which
// another may have something to do.
func (r *run) alone(k *core) int64 {
	n := int64(soloLength)
	if at, ok := r.memory.proc.NextDeadline(); ok {
		clock := r.clocks.clock(at)
		n = min(n, r.meter.Within(k.n, clock-min(clock, k.clock)))
	}
	return max(1, n)
}

// execute runs t until something happens or the budget is used up.
func (r *run) execute(t *thread, budget int64) {
	for budget > 0 && !r.end.over {
		touches := t.touches
		exit, n := r.stride(t, budget)
		budget -= int64(n)
		if exit.Reason == cpu.ExitBudget && !touches {
			r.parking.looksStill(t)
			break
		}
		if !r.exits.handle(t, exit) {
			break
		}
		if out := r.exits.enter(t); !r.exits.act(t, out) {
			break
		}
		budget = min(budget, r.budget(t.core)) // others may run by now
		budget = r.short(t, budget)
	}
	r.sampling.sample(t, 0)
	r.waking.wakeSpinners(t)
	if k := t.core; k != nil && k.clock >= k.quantum {
		r.cores.yield(k)
	}
}

// stride runs t on. A new thread goes block by block until it is in the program's own code, where
// its first segment starts: how its runtime gets there is nobody's decision.
func (r *run) stride(t *thread, budget int64) (cpu.Exit, uint64) {
	switch {
	case t.touches:
		return r.exits.touch(t)
	case t.birth == bornAtHome && len(r.precedence.order.hunts) > 0 && r.precedence.orders(t):
		return r.exits.goHunting(t, budget)
	case t.birth == bornAtHome:
		return r.exits.step(t, budget)
	}
	for done := uint64(0); ; {
		exit, n := r.exits.step(t, 1)
		done += n
		r.segments.arrives(t, n)
		if t.birth == bornAtHome || exit.Reason != cpu.ExitBudget || done >= uint64(budget) {
			return exit, done
		}
	}
}

// leave keeps an exit for t's next turn.
func (t *thread) leave(exit cpu.Exit) { t.pending = &exit }

// finish closes the profile.
func (r *run) finish() error {
	r.focus.finish()
	r.lives.endAll(nil)
	r.rec.Close(unit.Cycles(r.focus.at(section.NoThread, r.clocks.latest)))
	return joined(r.out.err, r.out.close(r.metaAtEnd()))
}

// metaAtEnd says how it ended, too.
func (r *run) metaAtEnd() profile.Meta {
	m := r.meta()
	m.Cores = r.beside.width(m.Cores)
	m.EndState, m.ExitStatus = r.end.state, r.end.status
	if r.end.signal != 0 {
		m.ExitStatus = r.end.signal
	}
	m.RunTime, m.CoreTime, m.Complete = r.clocks.latest, r.roster.work(), r.end.exec == nil
	r.focus.describe(&m)
	return m
}

// meta describes the run.
func (r *run) meta() profile.Meta {
	m := profile.Meta{
		Tool: r.cfg.Tool, Collector: "simulate", Model: r.cfg.Model, Machine: r.cfg.Machine,
		Command: append([]string{r.cfg.Cmd}, r.cfg.Args[min(1, len(r.cfg.Args)):]...), Cores: r.cfg.Cores, Asked: r.cfg.Asked,
		ClockUnit: r.meter.Unit(), ClockHz: r.meter.Hz(), TimeLabel: profile.Measured, CountLabel: profile.Measured,
		NodeTime: "visits", EndState: "running", RankInfo: r.cfg.Rank,
	}
	m.Region = r.cfg.Region.Words()
	if r.cfg.Parallel {
		m.Collector = "count"
	}
	if r.meter.Mode() == engine.Trace {
		m.NodeTime, m.TimeLabel = "stored", profile.Modelled
	}
	return m
}
