// Package ledger accounts for the imbalance of a parallel section exactly: it
// says which decisions, and which higher prices of the same code, put how much
// time on the thread that came last, such that the rows sum to the whole. It
// uses no statistics and needs two threads, not twenty. docs/ledger.md has the
// derivation and the proof. It must not import binaries, collectors, analysis
// or any output; it reads profile, and may use stat, graph and unit.
package ledger

import "lime/internal/profile"

// Kind says what a row charges.
type Kind string

// The kinds of row.
const (
	Branch       Kind = "branch"        // the thread went another way at a conditional branch
	Loop         Kind = "loop"          // it ran more iterations of a loop
	Call         Kind = "call"          // it returned (or did not) from a call, where the others did not (or did)
	IndirectCall Kind = "indirect-call" // it called other functions through a pointer
	IndirectJump Kind = "indirect-jump" // it jumped to other targets (switch tables)
	Price        Kind = "price"         // the same code cost it more; Row.Event names the hardware event, "" the remainder
	LockWait     Kind = "lock-wait"     // it was blocked on locks for longer
	SpinWait     Kind = "spin-wait"     // it waited longer for what other threads store
	OffCPU       Kind = "off-cpu"       // it was off the core for longer
	// it entered the section at another place, and does other work: the place is where it spends
	// most time beyond the others
	Entry       Kind = "entry"
	OtherStart  Kind = "other-start" // it started with another function
	Chosen      Kind = "chosen"      // a runtime chose it for what one thread does for all
	Dealt       Kind = "dealt"       // a runtime dealt it more pieces of work, or fewer, than others
	Tasks       Kind = "tasks"       // it was given more tasks: a runtime called the function that the place begins
	BrokenFlow  Kind = "broken-flow" // longjmp, exceptions, signals, counts that do not add up
	Visits      Kind = "visits"      // it visited code more often, in profiles that know visits only
	FirstCalls  Kind = "first-calls" // it was the first to call library functions, which the dynamic linker looks up then
	Loading     Kind = "loading"     // libraries did more by themselves, as they were loaded and left: no line asks for that
	Unaccounted Kind = "unaccounted" // its time as a whole differs from the sum over its blocks
)

// Frame is one source position, the innermost inlined frame first in a list.
type Frame struct {
	File     string `json:"file,omitempty"`
	Line     int32  `json:"line,omitempty"`
	Column   int32  `json:"column,omitempty"`
	Function string `json:"function,omitempty"`
}

// Place is where a row is charged. Without symbols only Addr is known.
type Place struct {
	File     string         `json:"file,omitempty"`
	Line     int32          `json:"line,omitempty"`
	Function string         `json:"function,omitempty"`
	Image    string         `json:"image,omitempty"`
	Addr     uint64         `json:"addr,omitempty"` // of the deciding instruction that weighs most in the row
	Node     profile.NodeID `json:"node"`           // its block, None for rows without a place
	Frames   []Frame        `json:"frames,omitempty"`
}

// Row is what one place is charged with. Times are in the profile's clock units,
// summed over the instances.
type Row struct {
	Kind   Kind   `json:"kind"`
	Event  string `json:"event,omitempty"`  // of a price or wait: name of the event kind
	Detail string `json:"detail,omitempty"` // the event's detail (other side, lock), if all of the row's agree
	Place  Place  `json:"place"`
	// Inside is where the time went, if Place is the line that called library code, and Callee what
	// it called.
	Inside *Place `json:"inside,omitempty"`
	Callee string `json:"callee,omitempty"`
	// Test is where the test stands, in a function that was inlined, if Place is the caller's code
	// for which it decides; or where it stands of a loop that is dealt out, if Place is the loop.
	Test *Place `json:"test,omitempty"`
	// Cycles is the time that the place put on the last-arriving thread of each instance, beyond
	// the mean of the threads; Share is the part of Account.Total. Both may be negative.
	Cycles float64 `json:"cycles"`
	Share  float64 `json:"share"`
	// Threads holds the same for every thread, not only the last: the thread's time is the
	// mean plus the sum of its column. Indexed like Account.Threads; sums to 0.
	Threads []float64 `json:"threads"`
	// Edges are the ways that the decision can go, with counts by thread.
	Edges []EdgeCount `json:"edges,omitempty"`
	// Tasks are the numbers of tasks by thread, of rows of that kind.
	Tasks []uint64 `json:"tasks,omitempty"`
	// Dealt are those of the pieces of work, likewise, and DealtLoop the number of the loop that they
	// are of, from 1 on.
	Dealt     []uint64 `json:"dealt,omitempty"`
	DealtLoop int      `json:"-"`
	// PassedOn is what the counts alone would have put here, but what the callers have decided:
	// work whose amount follows from the call sites that it was called from. It is part of their
	// rows, not of this one.
	PassedOn float64 `json:"passed_on,omitempty"`
	// Luck is, for each other placement of pages that was looked at, what of Cycles would not be
	// there: misses that the thread has because of where its pages lie.
	Luck []float64 `json:"luck,omitempty"`
	// Worst is the instance in which the row was largest.
	Worst InstanceShare `json:"worst"`
	// Course are its cycles in those instances in which they are worth keeping, in no order; an
	// instance may come twice.
	Course []Course `json:"-"`
	// Nodes is the number of blocks merged into the row.
	Nodes int `json:"nodes"`
	// With are the rows that made up for one another with this one, and were added to it.
	With []Net `json:"with,omitempty"`
}

// Net is a row that was added to another.
type Net struct {
	Kind   Kind    `json:"kind"`
	Place  Place   `json:"place"`
	Cycles float64 `json:"cycles"`
	Share  float64 `json:"share"`

	member *entry
}

// EdgeCount is one way of a decision.
type EdgeCount struct {
	Edge   profile.EdgeID `json:"edge"`
	Way    string         `json:"way"`    // "taken", "fall-through", "jump", "indirect-jump", "call", "indirect-call", "return", "odd", "end"
	To     Place          `json:"to"`     // where it leads
	Value  float64        `json:"value"`  // pooled time still to come within the function if the thread goes this way (mean over instances)
	Counts []uint64       `json:"counts"` // by thread, over all instances; indexed like Account.Threads
}

// InstanceShare is a row's cycles in one instance.
type InstanceShare struct {
	Seq    int     `json:"seq"`
	Cycles float64 `json:"cycles"`
}

// Course is a row's cycles in one of Account.Instances.
type Course struct {
	Index  int
	Cycles float64
}

// InstanceTotal is one instance's imbalance.
type InstanceTotal struct {
	Seq      int              `json:"seq"`
	Last     profile.ThreadID `json:"last"`     // thread with the longest time
	TMax     float64          `json:"t_max"`    // its time
	Mean     float64          `json:"mean"`     // mean time of the threads
	Total    float64          `json:"total"`    // TMax - Mean
	Residual float64          `json:"residual"` // Total - sum of the rows
}

// Account is the exact account of a section's imbalance.
type Account struct {
	Section   profile.SectionID  `json:"section"`
	Threads   []profile.ThreadID `json:"threads"`   // every thread that took part in any instance, ascending
	Deviation []float64          `json:"deviation"` // by thread: sum over its instances of its time - the mean
	Instances []InstanceTotal    `json:"instances"`
	Total     float64            `json:"total"` // sum of the instances' totals
	TMax      float64            `json:"t_max"` // sums over the instances
	Mean      float64            `json:"mean"`
	Rows      []Row              `json:"rows"` // by |Cycles|, largest first
	Rest      Rest               `json:"rest"` // the rows too small to show
	// Tasks are the tasks that threads were given, by the function that does them, those with the
	// most time first.
	Tasks []TaskTotal `json:"tasks,omitempty"`
	// Tests are the tests of loops, whether the threads differ there or not.
	Tests []LoopTest `json:"-"`
	// Runtime is the time of all threads in the blocks that Ledger.Runtime tells.
	Runtime []float64 `json:"runtime,omitempty"` // by thread
	// Passed are the rows with a PassedOn worth showing, the largest first. They may stand in Rows
	// as well, with what is left of them.
	Passed   []Row   `json:"passed,omitempty"`
	Positive float64 `json:"positive"`
	Negative float64 `json:"negative"` // sums of the positive and of the negative rows, Rest included
	// Spent is where the last threads spent most time beyond the mean; nil if no line of the
	// program's own stands out.
	Spent *Spent `json:"spent,omitempty"`
	// Residual is Total - sum of all rows: rounding only. RelResidual is the largest over the
	// instances of |residual| / TMax.
	Residual    float64 `json:"residual"`
	RelResidual float64 `json:"rel_residual"`
	// Exact says that counts and times are exact (measured or modelled, with a flow). Otherwise the
	// account still adds up, but to figures that are themselves estimates.
	Exact bool     `json:"exact"`
	Notes []string `json:"notes,omitempty"`
}

// TaskTotal is all tasks of one function.
type TaskTotal struct {
	Place Place   `json:"place"`
	Count uint64  `json:"count"`
	Time  float64 `json:"time"`
}

// LoopTest is a conditional branch of which one way stays in a loop that the other leaves.
type LoopTest struct {
	Place        Place
	Stay         profile.EdgeID
	Stayed, Left uint64   // how often it was stayed in, and left
	Round        float64  // time of a round
	DealtLoop    int      // as in Row: the test is whether one more piece of it was given
	Rounds       []uint64 // by thread, over all instances; indexed like Account.Threads
}

// Rest folds the rows that are too small to show; the parts stand apart, so that causes which
// compensate one another stay visible.
type Rest struct {
	Rows     int     `json:"rows"`
	Cycles   float64 `json:"cycles"`
	Share    float64 `json:"share"`
	Positive float64 `json:"positive"`
	Negative float64 `json:"negative"`
}

// Options choose what is shown, never what is computed.
type Options struct {
	MinShare float64 // rows with a smaller |Share| fold into the rest; 0 = 0.001, negative = show all that are not nil
	MaxRows  int     // at most so many rows; 0 = 200, negative = no limit
	Workers  int     // goroutines; 0 = GOMAXPROCS
}
