// Threads in parallel ("lime count"): each thread of the program runs on a host thread of its own,
// in its code beside the others without a lock, and behind one lock at every exit. There stands
// what a simulated run has, too: the guest, the recogniser, the table of functions. What differs is
// who says when a thread runs, and what time is.

package sim

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/cpu"
	"lime/internal/futex"
	"lime/internal/guest"
	"lime/internal/profile"
	"lime/internal/unit"
)

// Lengths in instructions.
const (
	firstTurn = 10_000  // after which it is looked whether a thread waits in a loop
	lastTurn  = 500_000 // the most that it runs without that: some 100 us, of which leaving and coming back takes a hundredth
)

// beside is a run whose threads run in parallel. All its methods but drive and tend may be called
// on none: then nothing is to be done.
type beside struct {
	r         *run
	inside    int     // threads in their code, or on their way out
	gatherer  *thread // all others are to stop
	gathering bool
	stopped   *futex.Cond // one more has
	meetings  map[uint64]*meeting
	most      int        // threads at a time
	seeking   bool       // some thread is followed round its loop
	loops     []*spinner // that come back to where they began, each once
	lockLoops []*spinner // that are a lock's, each once
	turnstile turnstile
	routes    map[uint64][]route  // by the place of a wait
	lines     map[uint64]lockLine // by lock
	over      bool                // nothing is counted any more
	errands   chan func()         // for the host thread of who replaces the program
}

// hostThread is the host's side of a thread.
type hostThread struct {
	awake *futex.Cond // it may run on
	tid   int         // 0: it has not begun
	since unit.Nanos  // the host's time when it blocked
	turn  int64       // how far it runs at once
	// how long it was followed in vain
	patience patience
	from     uint64 // its clock when it had waited last
	place    seat
	replaces bool // the program, by execve
	free     bool // its turn has no end for others' sake
	// the number of its last turn
	ticket uint64
	// it has just given its core away, and nobody works for whom it may wait
	yielded bool
	// it has left its code last to give its core away, as nobody made it do
	waits bool
	// and the clock of whom it lets go first
	lets uint64
	// how often it has given its core away, and without another system call in between; after how
	// many of these it is followed next
	yields, row, next int
	// the parallel region of which it has come to the end last
	region uint64
	// how many turns had ended when it came to want a place
	queued uint64
}

func newBeside(r *run) *beside {
	return &beside{r: r, turnstile: turnstile{cores: r.cfg.Cores}, stopped: futex.NewCond(&r.mu), meetings: map[uint64]*meeting{}, routes: map[uint64][]route{},
		lines: map[uint64]lockLine{}, errands: make(chan func())}
}

// guest is what the guest needs to know.
func (b *beside) guest() *guest.Parallel {
	if b == nil {
		return nil
	}
	return &guest.Parallel{Outside: b.outside, Interrupt: b.interrupt}
}

// given is told of a thread that may run.
func (b *beside) given(t *thread) {
	t.host.since, t.host.from = 0, t.now()
	b.most = max(b.most, len(b.r.roster.byGuest))
	if t.host.awake == nil {
		t.host.awake = futex.NewCond(&b.r.mu)
		b.processors()
		go b.drive(t)
	}
	t.host.awake.Broadcast()
	b.wants(t)
}

// processors sees to it that Go has a processor for each host thread that comes out of the
// program's code: to Go it was in a system call, and would have to wait until another one's
// processor is found to be unused, which may take milliseconds.
func (b *beside) processors() {
	const own = 8 // threads of lime's own
	if have := runtime.GOMAXPROCS(0); b.most+own > have {
		runtime.GOMAXPROCS(2 * (b.most + own))
	}
}

// drive runs a thread to its end, on a host thread of its own.
func (b *beside) drive(t *thread) {
	runtime.LockOSThread() // for good: the host thread ends with the goroutine
	debug.SetPanicOnFault(true)
	r := b.r
	r.mu.Lock()
	t.host.tid = unix.Gettid()
	t.segment.host = b.clocks(t) // lime's own work in front of it
	err := r.protected(func() {
		for !t.gone && !r.end.over {
			if t.core != nil {
				if b.takes(t); t.core != nil && !r.end.over {
					r.slice(t.core)
				}
				b.gives(t)
				continue
			}
			if t.host.since == 0 {
				t.host.since = r.memory.proc.HostNow()
			}
			if b.quiet() {
				r.memory.proc.Poke()
			}
			r.exits.handling(nil, func() { r.memory.proc.Rest(t.g, func(d time.Duration) { b.sleep(t, d) }) })
		}
	})
	if err != nil {
		r.ending.stop("lime-failed", err)
	}
	r.memory.proc.Poke()
	r.mu.Unlock()
	if t.host.replaces {
		for f := range b.errands {
			f()
		}
	}
}

// replacing runs f on the host thread of who replaces the program: capabilities, ids, and what else
// the kernel has of each thread, the next program gets from the one that calls execve.
func replacing(b *beside, f func()) {
	if b == nil {
		f()
		return
	}
	done := make(chan struct{})
	b.errands <- func() { f(); close(done) }
	<-done
}

// quiet reports whether no thread can run.
func (b *beside) quiet() bool {
	for _, t := range b.r.roster.byGuest {
		if t.core != nil {
			return false
		}
	}
	return true
}

// look is how often the run looks up from waiting for the outside world.
const look = 100 * time.Millisecond

// tend looks after time and the outside world until the run is over, and stops all threads then. It
// keeps the lock.
func (b *beside) tend(ctx context.Context) {
	r := b.r
	r.notes.Add("parallel", order)
	for !r.end.over {
		r.housekeeping(ctx)
		r.focus.due()
		if !b.over && r.through() {
			b.letsGo()
		}
		if b.quiet() && r.memory.proc.Stuck() {
			r.ending.deadlock()
			break
		}
		r.exits.handling(nil, func() { r.memory.proc.Tend(r.focus.soon(look)) })
	}
	if !b.gathering {
		b.gather(nil)
	}
	r.clocks.latest = b.end()
	b.noteTimes()
}

func (b *beside) noteTimes() { b.r.notes.Add(profile.NoteHostTime, b.hostTime()) }

// sleep waits until t may run on, at most for d.
func (b *beside) sleep(t *thread, d time.Duration) {
	b.r.exits.apart(func() { t.host.awake.Wait(d) })
}

// outside gives the lock up while f runs.
func (b *beside) outside(f func()) {
	b.away(b.r.exits.cur)
	b.r.exits.apart(func() {
		b.r.mu.Unlock()
		f()
		b.r.mu.Lock()
	})
}

// core is a number for the processor that runs t: one of those that the program knows of.
func (b *beside) core(t *thread) int {
	if t == nil {
		return 0
	}
	return int(t.id) % b.r.cfg.Cores
}

// waitsOnFutex reports whether t stands at a system call that waits for a futex: WAIT or
// WAIT_BITSET (include/uapi/linux/futex.h).
func waitsOnFutex(t *thread) bool {
	const futex, command = 202, 0x7f
	op := t.ctx.GPR[rsi] & command
	return t.ctx.GPR[rax] == futex && (op == 0 || op == 9)
}

// passes is told that t need not wait for a futex: what it would have waited for has happened.
func (b *beside) passes(t *thread) {
	if int64(t.ctx.GPR[rax]) == -int64(unix.EAGAIN) && !t.covered() {
		b.r.notes.Add("passed-waits", "A thread came to a wait that was over already: a barrier that the program "+
			"built of such waits may lack that thread's part")
	}
}

// order says what the profile of such a run is, and is not.
const order = "Threads ran in parallel: what each has done is counted exactly, in the order of this run. Waits in " +
	"loops of the program's own " +
	"are told where a thread was seen to stay in one; a barrier made of such loops ends sections from then on."

// runs reports whether t may be in its code: then nobody knows where it stands.
func (b *beside) runs(t *thread) bool { return b != nil && cpu.PlaceOf(t.ctx) != cpu.Outside }

// interrupt calls a thread out of its code, if it is there.
func (b *beside) interrupt(g *guest.Thread) {
	if t := b.r.roster.byGuest[g]; t != nil && t.ctx != nil {
		b.r.eng.Call(t.ctx)
	}
}

// enters is told that t is about to run its code.
func (b *beside) enters(t *thread) {
	if b == nil {
		return
	}
	b.halts(t)
	b.inside++
}

// left is told that it has left.
func (b *beside) left(t *thread, exit cpu.Exit) {
	if b == nil {
		return
	}
	t.host.goesOn(t, exit)
	b.inside--
	b.stopped.Broadcast()
}

// halts keeps t where it is if all are to stop. What it has done is booked by then.
func (b *beside) halts(t *thread) {
	for b != nil && b.gathering && b.gatherer != t {
		b.stopped.Wait(-1)
	}
}

// gather stops all threads but t, for good: the run ends.
func (b *beside) gather(t *thread) {
	if b == nil || b.gathering && b.gatherer == t {
		return
	}
	if b.gathering { // the run is over already, by another
		b.halts(t)
	}
	b.gathering, b.gatherer = true, t
	b.r.eng.Halt()
	for b.inside > 0 {
		b.stopped.Wait(-1)
	}
}
