package guest

import (
	"lime/internal/cpu"
	"lime/internal/unit"
)

// Host is what a guest process needs from the collector that runs it.
type Host interface {
	// Now is the simulated time on t's core, just after t's last exit. t may be
	// nil: the time of the process as a whole (never behind what a thread saw).
	Now(t *Thread) unit.Nanos
	// CPUTime is the simulated time for which t has run; of all threads if t is nil.
	CPUTime(t *Thread) unit.Nanos
	// Core is the number of the simulated core that runs t.
	Core(t *Thread) int
	// Ready says that t, which was blocked, may run again from time at on.
	Ready(t *Thread, at unit.Nanos)
	// Odd says that t goes on at its RIP, and that neither an instruction has led it there nor a
	// signal had interrupted it there.
	Odd(t *Thread)
	// NewContext and FreeContext make and drop the registers of a thread.
	NewContext() (*cpu.Context, error)
	FreeContext(*cpu.Context)
	// Invalidate says that code in [lo, hi) was unmapped, remapped or written.
	Invalidate(lo, hi uint64)
	// ImageMapped says that an ELF file's executable part was mapped.
	ImageMapped(Image)
	// Note reports something the user must know; Code and Text repeat, the
	// collector counts.
	Note(code, text string)
}

// Image is an ELF file mapped into the guest.
type Image struct {
	Path   string
	Bias   uint64 // run-time address - link-time address
	Lo, Hi uint64 // the whole span of its mappings
}

// OutcomeKind says what becomes of a thread after an exit was handled.
type OutcomeKind uint8

// The kinds; see the package comment.
const (
	Continue OutcomeKind = iota
	Yield
	Blocked
	ThreadExit
	ProcessExit
	Replace
)

var outcomeNames = [...]string{"continue", "yield", "blocked", "thread-exit", "process-exit", "replace"}

func (k OutcomeKind) String() string { return outcomeNames[k] }

// Outcome is the answer to one exit.
type Outcome struct {
	Kind  OutcomeKind
	New   *Thread    // a thread that was created, else nil
	Wait  Wait       // Blocked: what for
	Takes unit.Nanos // for how long it keeps the core busy
}

// WaitKind says what a blocked thread waits for.
type WaitKind uint8

// The kinds of waiting.
const (
	WaitNone   WaitKind = iota
	WaitFutex           // Addr
	WaitTime            // sleep until a time
	WaitFD              // host file descriptors (FD is the first of them)
	WaitChild           // a child process (PID, or -1)
	WaitSignal          // pause, sigsuspend, sigtimedwait
)

var waitNames = [...]string{"nothing", "futex", "sleep", "file", "child process", "signal"}

func (k WaitKind) String() string { return waitNames[k] }

// Wait describes what a blocked thread waits for.
type Wait struct {
	Kind     WaitKind
	Syscall  string // name of the system call it blocks in
	Addr     uint64 // WaitFutex: the futex word
	Bitset   uint32 // WaitFutex
	FD       int
	PID      int
	Deadline unit.Nanos // NoDeadline if there is none
}

// NoDeadline means that a wait has no end in time.
const NoDeadline = unit.Nanos(1<<63 - 1)

// ThreadWait is one row of the answer to "who waits where" (deadlock report).
type ThreadWait struct {
	Thread *Thread
	Wait   Wait
	Text   string // "futex 0x7f.. (value 2)", "read fd 0 (pipe)", ...
}

// Status is how the process ended.
type Status struct {
	Exited bool
	Code   int // exit status, if Signal is 0
	Signal int // terminating signal, or 0
	Core   bool
	Text   string // for a signal: what and where ("thread 4200000 got SIGSEGV at pc 0x401136, address 0x0")
	Thread *Thread
	What   string // of Text: without the thread and the place ("got SIGSEGV, address 0x0")
}
