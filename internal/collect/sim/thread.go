// A thread, and the calls that are open in it.

package sim

import (
	"slices"

	"lime/internal/collect/known"
	"lime/internal/collect/mpi"
	"lime/internal/cpu"
	"lime/internal/guest"
	"lime/internal/section"
	"lime/internal/unit"
)

// thread is one thread of the program.
type thread struct {
	id       section.ThreadID
	g        *guest.Thread
	ctx      *cpu.Context
	parent   *thread
	fsBase   uint64 // of its thread control block: what pthread_t says
	core     *core
	lastCore int
	queued   uint64 // for how long it waited for a core, since that was told last
	readyAt  uint64 // since when it has been able to run, while it has no core
	at       uint64 // its clock while it has no core
	blocked  bool
	early    bool // became ready before it was blocked
	earlyAt  unit.Nanos
	gone     bool
	ended    bool // OpExit was told

	pending  *cpu.Exit // an exit that is not handled yet
	probed   uint64    // the probe at which it stands and which waits for its turn
	returned call      // the call that has just returned
	frames   []call    // open calls of functions of the table, outermost first
	regions  []uint64

	lastTeam int  // how many threads the last region had that it has opened
	idle     bool // a pool's thread between two regions
	through  bool // it has done what it was made for
	pooled   bool // it is one of TBB's, or has been given tasks by it (pool.go)

	birth    birth
	wrapped  uint64 // bornInWrapper: instructions since
	segment  segmentStart
	locks    []lockEvent // of the segment under way
	yielded  []lockEvent // that are not told of yet: in which it gave its core away
	waitsOn  waitKind
	waitAt   uint64    // its clock when it blocked
	awaits   waitEvent // what for, if nothing that a thread does ends the wait
	object   uint64    // waitsTold: for what
	untyped  bool      // waitsTold: which may be a lock
	spin     *spinner
	lapsed   *spinner  // its loop, if a counter is about to end the rounds and it then waits in the system
	still    stillness // how it looked at the end of the last slices
	pass     *passage
	inQueues map[uint64]inQueue // its last exchanges, by instruction
	waited   map[unit.Addr]bool // where it has waited in the system
	waitsAt  unit.Addr          // and where it did last
	let      *letting           // nil: what it did last was done on its way
	visits   visits             // of an instruction that is done in order (order.go)
	touches  bool               // it stands at one, and its turn has come
	inLine   uint64             // the clock since which it has waited, looks included
	lined    uint64             // instructions it had done when it last left a loop to look
	gave     uint64             // the clock at which it did one, while that is looked at; else 0
	gaveBy   uint64             // the instruction
	gaveAt   *orderly           // and those that touch the same
	heard    uint64             // its clock when it last did something beside running on
	checked  uint64             // its clock when it was last looked whether it has let others go
	retired  uint64             // and how many instructions it had done by then
	tried    uint64             // what it tried to take at the last pass point
	meet     uint64             // where those whom it released come home; it may pass there, too
	meetBy   uint64             // until it has worked for so long
	restart  *frameRef          // where the segment under way is to start: its return to the program's own code
	carry    []edgeCount        // counted before the last drain, for the segment under way
	summed   int                // how many these were when they had been added up
	adder    *adder
	carryHW  hardware
	gives    handed     // the task of libgomp's that it made last
	given    []uint64   // where the tasks begin that it was given in the segment under way
	deals    dealList   // likewise: when it came for work
	busy     uint64     // clock units of work
	yields   uint64     // of these, those of yields
	rests    uint64     // its clock when it reached the end of a parallel region last
	host     hostThread // threads in parallel
	wake     wakeState
	turn     turnState
	book     *book // of its instructions; goroutines have one together
	started  uint64
	focus    *focus  // nil: the whole run is measured
	phases   []phase // that it is in, outermost first, as far as they matter for what is measured

	row       int32      // of the profile, profile.None if it has none
	carrier   *thread    // of a goroutine that runs: the thread that it runs on
	goroutine *goroutine // of a goroutine
	hosts     *hosting   // of a thread that runs goroutines
	earlier   []*segment // of the segment under way: what came before others had its processor
	off       uint64     // for how long it could not run, in the segment under way

	doing   doing
	sampled uint64 // busy when its path was noted last
	samples []pathSample
}

// waitKind is what the recogniser was told about a thread that does not run.
type waitKind uint8

const (
	waitsNot      waitKind = iota
	waitsReported          // OpWaitBegin
	waitsIdle              // for a signal: for something to do
	waitsOff               // asleep, or in a system call
	waitsLock              // for a lock that is no function of the table
	waitsInner             // inside a function of the table
	waitsWatched           // inside a function of the program's own that may be a barrier
)

// birth is how far a new thread has come.
type birth uint8

const (
	bornAtHome    birth = iota // it is in the program's own code
	bornOutside                // its runtime has it
	bornInWrapper              // it is in what the language's library has wrapped around its function
)

// atHome notes that a wait of t is told of at a place of the program's: whatever the library has
// around that place, the segment in which it waited is not begun anew any more.
func (t *thread) atHome() { t.birth = bornAtHome }

// now is the thread's clock.
func (t *thread) now() uint64 {
	if c := t.here().core; c != nil {
		return c.clock
	}
	return t.at
}

// call is an open call of a function of the table.
type call struct {
	fn        *fn
	ret       uint64 // return address
	rsp       uint64 // at the function's entry
	object    uint64
	lock      uint64 // known.CondWait
	holder    uint64 // known.Lock: where the call returned by which who holds the lock took it, 0 if that is not known
	at        uint64
	site      section.Site
	reported  bool   // the recogniser knows
	idle      bool   // known.TaskBody: the thread was idle before
	done      bool   // known.Fork: the forking thread has done its share
	waited    uint64 // clock units for which it did not run, in the call
	segment   *segment
	meeting   *meeting // a barrier's, threads in parallel
	worked    uint64   // the same: the clock until which the thread has done tasks there
	looked    bool     // the same: it has had a core since others came out
	other     *thread
	candidate *candidate  // known.Gate
	before    uint64      // known.Gate: t.worked() at its entry
	partly    bool        // known.Gate: what was done in it before that is not known
	create    *section.Op // known.Create: to be told when the thread is there
	created   bool        // known.Create: it has been told
	start     uint64      // known.Create: what the thread will run
	parked    bool        // known.GoCondWait: the goroutine has left its thread to wait
	slow      bool        // all that is done in the call is waiting
	within    bool        // known.TaskBody: it is run in a wait for tasks, by a thread that is at work for its section
	mpi       *mpi.Call   // of a function of MPI's
	test      uint64      // known.GoLock: the branch that led to the call, 0 if none
	busy      uint64      // slow: for how long the thread had worked before
	from      *lineage    // known.RegionBody, known.TaskBody: where it was given away, nil if that is not known
	gives     *lineage    // known.TaskObject: where it is given away
}

// covers reports whether what happens inside the call (waits, locks) is its own affair.
func (c *call) covers() bool {
	switch c.fn.Role {
	case known.Gate:
		return c.reported
	case known.Fork:
		return c.done
	case known.RegionBody, known.TaskObject, known.TaskBody, known.PoolTask, known.Create, known.SectionEnd, known.SemWait, known.GoC:
		return false
	}
	return true
}

// covered reports whether the thread is inside a function of the table that
// accounts for its waits, or idle in a pool.
func (t *thread) covered() bool {
	if t.idle {
		return true
	}
	n := len(t.frames)
	return n > 0 && t.frames[n-1].covers()
}

// waits reports whether all that is done inside the call is waiting.
func (c *call) waits() bool {
	switch c.fn.Role {
	case known.Barrier, known.TeamBarrier, known.TeamReduce:
		return c.reported
	case known.Fork:
		return c.done
	}
	return c.slow
}

// in finds the innermost open call with one of the roles.
func (t *thread) in(roles ...known.Role) *call {
	for i := len(t.frames) - 1; i >= 0; i-- {
		if slices.Contains(roles, t.frames[i].fn.Role) {
			return &t.frames[i]
		}
	}
	return nil
}

// forking reports whether the thread is inside the runtime, opening a region: the
// threads that it creates there belong to a pool.
func (t *thread) forking() bool {
	f := t.inRuntime()
	return f != nil && (f.fn.Role != known.Meet || f.mpi != nil) // MPI's own threads drive it
}

// inRuntime is the call in which a runtime's code opens a region or waits for its end, nil if the
// program's own code runs.
func (t *thread) inRuntime() *call {
	for i := len(t.frames) - 1; i >= 0; i-- {
		switch f := &t.frames[i]; f.fn.Role {
		case known.Fork, known.PoolTask, known.PoolRun, known.Meet:
			return f
		case known.RegionBody, known.TaskBody:
			return nil
		}
	}
	return nil
}

// simple is an operation without a segment.
func (t *thread) simple(kind section.OpKind, object uint64) section.Op {
	return section.Op{Kind: kind, Thread: t.id, Other: section.NoThread, At: unit.Cycles(t.now()), Object: object}
}
