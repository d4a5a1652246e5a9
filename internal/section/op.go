package section

import "lime/internal/unit"

// ThreadID numbers the threads of the program in order of creation, from 0.
type ThreadID int32

// NoThread is the id of no thread.
const NoThread ThreadID = -1

// OpKind is what a thread did.
type OpKind uint8

// The operations. Those marked "ends a piece" carry Op.Span.
const (
	OpStart     OpKind = iota // the thread begins to run
	OpExit                    // the thread is gone (ends a piece); Site = where it was
	OpCreate                  // created thread Other (ends a piece)
	OpCreated                 // is back from creating a thread (ends a piece)
	OpJoinBegin               // will wait for thread Other to end (ends a piece)
	OpJoinEnd                 // thread Other has ended, and was waited for
	OpArrive                  // arrived at barrier Object (ends a piece); Parties, 0 = unknown
	OpLeave                   // left the barrier
	OpFork                    // opened parallel region Object (ends a piece)
	OpMember                  // begins to work for region Object
	OpMemberEnd               // reached the end of region Object (ends a piece)
	OpTask                    // begins a task while it stands at a barrier or a region's end
	OpTaskEnd                 // has done the task, and waits on (ends a piece)
	OpLull                    // has nothing to do but wait for tasks
	OpLullEnd                 // has a task, or goes on with its own work
	OpRegionEnd               // the thread that forked region Object goes on alone
	OpWaitBegin               // waits for something unknown at Object: futex, flag (ends a piece)
	OpWaitEnd                 // the wait is over; Other = who ended it, or NoThread; Lock, Idle = what it was if it ended no section
	OpRelease                 // is about to end the waits of Woken at Object, 0 if not known yet (ends a piece); At = its arrival
	OpLockBegin               // waits for lock Object
	OpLockEnd                 // has the lock
	OpOff                     // was off its core for N clock units inside the open part
	OpCut                     // reached a place that the user declared to end sections (ends a piece)
	OpIdle                    // belongs to a pool, and has no work yet
	OpCount                   // has counted Object down, which others may wait for (ends a piece)
	OpCountUp                 // says how often Object will be counted down (ends a piece)
	OpAwait                   // will wait until all have counted Object down (ends a piece)
	OpAwaitEnd                // they have
	OpPass                    // comes to a place, Object, that may turn out to be a barrier (ends a piece)
	OpPassEnd                 // goes on behind it (ends a piece)
	OpPassKnown               // Object is a barrier: the last passages of all through it ended a section
	opKinds
)

// Frame is one open call in the program's own code.
type Frame struct {
	Call unit.Addr // the call instruction (or, innermost, the waiting instruction itself)
	Func unit.Addr // entry of the function that contains it
}

// Site is the place of an operation: the open calls of the program's own code,
// innermost first, library frames left out.
type Site struct {
	Stack []Frame
	// Kept is how many of the outermost frames were open during the whole
	// piece, without having been left and called again.
	Kept int
	// Library is how many of the innermost frames stand in the language's own library, compiled
	// into the program.
	Library int
}

// Place returns the innermost call, 0 if unknown.
func (s Site) Place() unit.Addr {
	if len(s.Stack) == 0 {
		return 0
	}
	return s.Stack[0].Call
}

// outside is the innermost call that is not the language's own.
func (s Site) outside() unit.Addr {
	if s.Library < len(s.Stack) {
		return s.Stack[s.Library].Call
	}
	return s.Place()
}

// Op is one operation of one thread. Operations arrive in the order of the
// simulated clock.
type Op struct {
	Kind    OpKind
	Thread  ThreadID
	At      unit.Cycles
	Other   ThreadID    // by kind
	Woken   []ThreadID  // OpRelease
	One     bool        // OpRelease: of any number it would have let go one, as who gives back a lock
	Through []ThreadID  // OpRelease: of those who have the same creator, who has come back from its own function, and only has to end
	Object  uint64      // barrier, region, futex, lock
	Built   bool        // OpArrive: at a barrier that the program built itself
	Handed  bool        // OpRelease: those who let them out do not go in where they wait, or one at a time comes out
	Peer    bool        // OpRelease, Handed: t waits there itself at times, as for a lock
	Again   bool        // OpWaitBegin: it was woken where it waited here last, and has not been let through: it has only looked
	Untyped bool        // OpWaitBegin: a bare futex, which may as well be a lock's
	Meeting any         // OpArrive: with other processes, of which nothing is seen here; the collector's handle
	Final   bool        // OpExit: it ends the program
	Lock    bool        // OpWaitEnd: if it ended no section it was a lock's
	Loose   bool        // OpExit: nobody can join the thread; it may have been counted down
	Idle    bool        // OpWaitEnd: if it ended no section it was for work to do
	N       unit.Cycles // OpOff: so long; OpWaitBegin: of what was told so, what lies in the wait
	Site    Site
	Span    any // the collector's handle of the piece that ends here
}

// Kind says what ends a section; the words are those of the profile.
type Kind string

// The kinds.
const (
	Barrier Kind = "barrier"
	Join    Kind = "join"
	Region  Kind = "region-end"
	Built   Kind = "built-barrier"
	Custom  Kind = "custom"
	Meeting Kind = "collective"
	Serial  Kind = "serial"
	Tail    Kind = "exit"
)

// Part is one thread's passage through an instance.
type Part struct {
	Thread                 ThreadID
	Start, Arrive, Release unit.Cycles
	Came                   unit.Cycles // the thread's clock when it came to the end: Arrive, and what it was idle before
	LockWait, OffCPU       unit.Cycles
	Number                 int   // of the thread's parts, those that come to nothing included
	Spans                  []any // pieces in order; a piece may belong to several nested instances
	site                   Site
	first                  bool // the thread's first part
	dropped                bool // no part of its instance after all
	missed                 bool // dropped: it holds the work of several sections
}

// Time is the execution time of the part.
func (p *Part) Time() unit.Cycles { return p.Arrive - p.Start }

// Stack is the open calls at its end.
func (p *Part) Stack() []Frame { return p.site.Stack }

// onCore is the time of the part that the thread had a core.
func (p *Part) onCore() unit.Cycles { return p.Time() - min(p.OffCPU, p.Time()) }

// Instance is one finished passage through a section, which ends at Site.
type Instance struct {
	Kind    Kind
	Place   unit.Addr // the call that ends it
	Parts   []Part
	Meeting any // of kind Meeting: the collector's handle
	// Awaiting are threads that take no part, but have waited until it was over: what they do next
	// comes after it.
	Awaiting []ThreadID
}
