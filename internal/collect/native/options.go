package native

import (
	"io"
	"os"

	"lime/internal/collect/region"
	"lime/internal/profile"
	"lime/internal/waste"
)

// Options say what to record, and how.
type Options struct {
	Command    []string    // the program and its arguments; looked up in PATH if it has no slash
	Env        []string    // nil: lime's own
	PID        int         // attach to this process instead
	Frequency  uint64      // samples per second and thread; 0: 499
	StackBytes uint32      // of each thread's stack that a sample copies; 0: 24576
	Events     []string    // to sample next to the clock, by the names of perf.Events; nil: all that there are
	NoHooks    bool        // do not watch the synchronisation functions
	NoPerf     bool        // do not sample
	NoLeavings bool        // do not sample threads that leave their cores, but look at them while they are away
	Waste      waste.Set   // wasted memory work to look for; not with PID
	Tolerance  float64     // of floating-point numbers that count as the same value (Waste)
	Region     region.Spec // what of the run is measured: by times only
	Traces     int64       // bytes for the traces of call paths; 0: the default, less: none
	Tool       string      // name and version, for the profile
	Rank       profile.RankInfo

	Signals <-chan os.Signal // those of Signals that were sent to lime, if the caller has asked for them already

	Stdin          io.Reader // nil: lime's own
	Stdout, Stderr io.Writer

	Out profile.Sink // takes the profile; the caller closes it
}

// Result says how the run ended.
type Result struct {
	Status      int    // exit status to pass on: the program's own, 128 + N after signal N, or 125 to 127
	EndState    string // as in profile.Meta
	Interrupted bool   // the terminal's key ended it, and was meant for lime, too
	Threads     int
	Instances   int
	Samples     uint64
	Stacks      float64 // share of samples with a complete call path
	RunTime     uint64  // ns
	Never       string  // why nothing was measured of a run of which Region is; "": something was
	Notes       []profile.Note
}

// Defaults of Options.
const (
	DefaultFrequency  = 499
	DefaultStackBytes = 24576
)

// Exit statuses of lime's own, as env, nice and timeout have them.
const (
	statusFailed    = 125
	statusCannotRun = 126
	statusNotFound  = 127
)

func (o Options) withDefaults() Options {
	if o.Frequency == 0 {
		o.Frequency = DefaultFrequency
	}
	if o.StackBytes == 0 {
		o.StackBytes = DefaultStackBytes
	}
	o.StackBytes = min(o.StackBytes&^7, 65528-1024) // a record's length has 16 bits
	if o.Tool == "" {
		o.Tool = "lime"
	}
	return o
}
