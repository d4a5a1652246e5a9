package guest

import (
	"errors"
	"fmt"
)

// Config describes the process to run.
type Config struct {
	Path    string   // the program; looked up in PATH if it has no slash
	Args    []string // argv, Args[0] included
	Env     []string
	Cores   int  // what affinity, cpuid and /sys say
	HostCPU bool // CPUID tells all that the host has, not the fixed baseline

	FollowExec bool // cpu.FollowExec was called: what child processes start is simulated, too
	Lime       int  // lime's process in the group, which gets no signals by groups; 0: none

	Found Found // what the program finds

	Parallel *Parallel // nil: one thread runs at a time, and time is the collector's

	Layout Layout // zero: DefaultLayout, above lime where that lies in it
}

// FirstTID is where thread ids count up from: above any id that the host gives out (PID_MAX_LIMIT
// is 1<<22), so that they can never be confused. The first thread has the id of the process, which
// is the host's.
const FirstTID = 4_200_000

// LoadError says why a program cannot be run, and what to do about it.
type LoadError struct {
	Path string
	Why  string
	Hint string
	// Status is the exit status a shell would give: 127 not found, 126 not executable.
	Status int
	Err    error
}

func (e *LoadError) Error() string {
	s := fmt.Sprintf("%s: %s", e.Path, e.Why)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

func (e *LoadError) Unwrap() error { return e.Err }

// ErrAddressTaken says that something of lime's own (the randomised Go heap, a
// library of the host's) lies where the guest must be: run the child again.
var ErrAddressTaken = errors.New("an address range of the guest is taken in this process; start the child again")
