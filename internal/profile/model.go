// Package profile is the model that all collectors fill and all reports read:
// its types, its validator, the file format and its text twin. It knows no
// statistics, no binaries and no output, and imports unit and safe only (and an
// embedded store).
//
// # Shape
//
// A profile is a set of tables (images, functions, source lines, nodes, edges,
// hardware events, sections, threads), which grow while the run goes, and a
// stream of section instances. Each instance holds, for the threads that took
// part, their times and a sparse matrix of counts. Ids are dense, from 0, in
// order of first appearance, so that equal runs give equal files.
package profile

import (
	"fmt"

	"lime/internal/unit"
)

// Ids of the tables' rows; -1 (None) where there is none.
type (
	ImageID    int32
	FileID     int32
	FunctionID int32
	NodeID     int32
	EdgeID     int32
	EventID    int32
	SectionID  int32
	ThreadID   int32
	PathID     int32
)

// None is the id of no row.
const None = -1

// Label says how a figure came about.
type Label uint8

// The labels.
const (
	Measured    Label = iota // counted exactly, or read from a clock
	Modelled                 // computed by a described machine
	Sampled                  // estimated from samples
	Unavailable              // not known
)

// Meta describes the run.
type Meta struct {
	FormatVersion int
	Tool          string   // "lime 0.1"
	Collector     string   // "simulate", "record", "import callgrind", ...
	Model         string   // "count", a machine's name, or "native"
	Machine       string   // the machine description as TOML, complete; "" for native
	Command       []string // program and arguments
	Cores         int
	Asked         bool    // that is how many the user asked for; else the collector's own choice, or what there was
	ClockUnit     string  // "instructions", "cycles" or "ns": the unit of every time in the profile
	ClockHz       float64 // clock units per second, 0 if no such figure makes sense
	TimeLabel     Label   // how times came about
	CountLabel    Label   // how edge counts came about
	NodeTime      string  // "visits" (time of a node = visits x Instrs), or "stored" (Instance.Times)
	EndState      string  // "running" (file cut off), "exited", "signalled", "interrupted", "lime-failed", "deadlock"
	ExitStatus    int     // of the program: exit status, or signal number
	RunTime       uint64  // clock units from start to end of the program
	CoreTime      uint64  // clock units of work, all threads (waiting, spinning excluded)
	Complete      bool    // the run was closed in order
	Resolved      bool    // functions, lines and source text are filled in
	Notes         []Note  // what the reader must know: unsupported system calls, child processes, lost samples

	// Of a run of which only stretches were measured: every other time of the profile leaves out what
	// is between them.
	Region     []string // the options that asked for it; nil: the whole run was measured
	RegionTime uint64   // ns that were measured, as the program's clock has them
	WholeTime  uint64   // ns of the whole run
	Stretches  int      // how many there were

	RankInfo
}

// RankInfo says which process of a program of many processes a profile is of.
type RankInfo struct {
	Launcher string // who started the process as a rank: "Open MPI", ...; "" if it is none, and then the rest is nothing
	Rank     int    // its number, from 0
	Ranks    int    // how many there are, 0 = not known
	Host     string // the machine it ran on
	Job      string // what all ranks of one start have in common, "" = not known
}

// Note is a remark of the collector or resolver, shown in reports.
type Note struct {
	Code string // stable word: "unsupported-syscall", "child-process", "no-debug-info", ...
	Text string
	N    uint64 // how often
}

// Image is an ELF file mapped into the program (or anonymous code: Path "").
type Image struct {
	Path    string
	BuildID string
	Base    uint64 // load bias: run-time address - link-time address
	Lo, Hi  uint64 // run-time range of its mappings
}

// File is a source file; Lines holds the text of the lines that causes name, with context.
type File struct {
	Path  string
	Lines map[int32]string
}

// Function is a function of an image (or unknown code: Name "").
type Function struct {
	Image ImageID
	Name  string // demangled, as people write it
	Link  string // as in the symbol table
	Entry uint64 // run-time address
	File  FileID
	Line  int32
}

// Frame is one source position; a node has its innermost inlined frame first.
type Frame struct {
	File     FileID
	Line     int32
	Column   int32
	Offset   uint32 // bytes from the function's entry, or an image's start, where no line is known
	Function string // function or inlined function that contains the position
}

// Name is the function as people read it: with the offset, if there is one.
func (f *Frame) Name() string {
	if f.Offset == 0 {
		return f.Function
	}
	return fmt.Sprintf("%s+%#x", f.Function, f.Offset)
}

// NodeKind says how a basic block ends.
type NodeKind uint8

// The ways a block ends.
const (
	EndFall NodeKind = iota
	EndCond
	EndJump
	EndCall
	EndRet
	EndJumpInd
	EndCallInd
	EndSyscall
	EndOther
	NodePseudo // no code: a sampled place, an imported one, the section's start
)

// Node is a basic block. Frames give the position of its LAST instruction (the
// decision); First those of its first.
type Node struct {
	Image    ImageID
	Addr     uint64 // run-time address of its first instruction
	Size     uint32 // bytes
	Instrs   uint32 // instructions
	LastAddr uint64 // run-time address of the last instruction
	Kind     NodeKind
	Function FunctionID
	Frames   []Frame
	First    []Frame
}

// EdgeKind says how control went along an edge.
type EdgeKind uint8

// The kinds of edge. Return edges go from the block that calls to its
// continuation and are counted when the call returns; Call edges go to the entry of the
// callee. So calls and returns are matched, and within a function the graph without
// Call edges is its control-flow graph.
const (
	EdgeTaken   EdgeKind = iota // conditional branch taken
	EdgeFall                    // conditional branch not taken, or a block that runs into the next
	EdgeJump                    // direct jump
	EdgeJumpInd                 // indirect jump, one edge per target
	EdgeCall                    // direct call
	EdgeCallInd                 // indirect call, one edge per target
	EdgeReturn                  // call block -> continuation, when the callee returned
	EdgeEnd                     // block that ends in ret, or in an exit: counts its visits, To = None
	EdgeVisit                   // From = None: visits (or samples) of node To, when only those are known
	EdgeOdd                     // whatever breaks the flow: longjmp, signal delivery, exception landing
)

// Edge is one static control-flow event: a traversal from block to block.
type Edge struct {
	From, To NodeID
	Kind     EdgeKind
}

// MetricIdleness is the metric of call paths whose rows may take back what earlier ones said: how
// many threads a run can keep busy is known at its end. Only the sum of a path's rows counts.
const MetricIdleness = "idleness"

// MetricHeld is the metric of call paths for time that has a row of its own in the section in which
// it was spent, and belongs to this one as well: what a rank's first thread does in regions of the
// rank's own is part of its way to the next meeting of all ranks.
const MetricHeld = "time-held"

// Metrics of call paths for waits that are idleness of their section, and no part of their threads'
// times: where they waited, and, by paths that go on from there to a block, for what: the waits for
// what is done in that block, and for how long it had been done when a wait ended.
const (
	MetricIdleWait    = "idle-wait"
	MetricAwaited     = "awaited"
	MetricAwaitedWork = "awaited-work"
)

// NoteGoroutines is the code of the note of a program whose work wanders between its threads.
const NoteGoroutines = "goroutines"

// NoteRanks is the code of the note of a profile that is put together from those of several
// processes; its number is how many.
const NoteRanks = "ranks"

// NoteElsewhere is the code of the note that most of the work was done by processes which take part
// in no section.
const NoteElsewhere = "work-elsewhere"

// Codes of the notes that tell how a recorded profile knows where threads left their cores, and how
// long they had none though they could have run.
const (
	NoteOffCore  = "off-core"
	NoteRunQueue = "run-queue"
	// NoteHandedOut: sections whose work goes to whoever comes first were recorded on fewer cores
	// than threads, and their imbalance is told as far as any had work left when others had none.
	NoteHandedOut = "handed-out"
)

// Codes of the notes that say what a counted run took on the host, and beside a native run.
const (
	NoteHostTime = "host-time"
	NoteCompared = "compared"
)

// NoteEffortThreads is the code of the note whose number is that of the threads for which a
// recorded profile's idleness is measured.
const NoteEffortThreads = "effort-threads"

// Event is one kind at one static instruction.
type Event struct {
	Kind   int32  // index into the kinds table
	Node   NodeID // block that holds the instruction
	Addr   uint64 // run-time address of the instruction
	Frames []Frame
	Detail string // other side of a coherence miss, lock, data symbol, DetailConflict; "" if none
}

// SectionKind says what ends a section.
type SectionKind string

// The kinds.
const (
	SectionBarrier SectionKind = "barrier"
	SectionJoin    SectionKind = "join"
	SectionRegion  SectionKind = "region-end"    // end of an OpenMP parallel region
	SectionBuilt   SectionKind = "built-barrier" // a barrier the program built itself
	SectionCustom  SectionKind = "custom"        // --section-end
	SectionMeeting SectionKind = "collective"    // a call in which processes meet: collective operations of MPI
	SectionMessage SectionKind = "message"       // a call in which a rank waits for a message of another one
	SectionSerial  SectionKind = "serial"        // one thread works alone
	SectionTail    SectionKind = "exit"          // until the end of the program or thread
)

// Section is a static parallel section, named by the place that ends it. Sections whose places
// are on one source line are one section.
type Section struct {
	Kind    SectionKind
	EndAddr uint64 // run-time address of the call that ends it (call instruction's block end)
	EndNode NodeID
	Frames  []Frame // source position of the call site
	Starts  []Frame // where it begins most often (informative)
}

// Thread is a thread of the program.
type Thread struct {
	Name       string
	Parent     ThreadID
	TID        int32      // as the program saw it; of the first simulated thread a fixed number
	Start, End uint64     // clock
	Entry      FunctionID // start routine, None if unknown
}

// Part is one thread's passage through an instance. Times are in clock units.
type Part struct {
	Thread   ThreadID
	Start    uint64 // release at the section's start
	Arrive   uint64 // arrival at its end (start of waiting, spinning included)
	Release  uint64 // leaves the end (>= the last arrival)
	LockWait uint64 // waited inside the section for locks, or for what others store: part of Arrive-Start
	// blocked in I/O, sleep and the like, or ready but not running (more threads than cores; not in
	// a native run, whose times count no such wait): part of Arrive-Start, the sum of the costs of
	// these kinds
	OffCPU uint64
	Entry  NodeID // block in which it starts
	Exit   NodeID // block in which it ends (last block executed before the end)
	// Open calls at start and end, outermost first: the nodes of the call blocks. What they have in
	// common stays open for the whole instance; an entry frame beyond the common part has returned
	// in it without having been called in it, an exit frame beyond it was called and has not
	// returned. nil = unknown.
	EntryStack, ExitStack []NodeID

	Meets MeetRole // of an instance with a meeting
	Early uint64   // likewise: how long before its arrival it had done its share, for which others wait

	Host HostTime
}

// Time returns the execution time t_i: release to arrival.
func (p *Part) Time() uint64 { return p.Arrive - p.Start }

// Count is one cell of a sparse matrix: row (an EdgeID, EventID or NodeID by
// table), part (index into Instance.Parts) and value.
type Count struct {
	Row  int32
	Part int32
	N    uint64
}

// Instance is one passage of the participating threads through a section.
type Instance struct {
	Section SectionID
	Seq     int // of the section, from 0
	Parts   []Part
	Meeting *Meeting // nil: it does not end where processes meet
	// how much later than the mean the last thread is because work that goes to whoever comes first
	// went to another one than with a core for each thread: clock units, at most so many
	Chance uint64
	Edges  []Count // Row = EdgeID; sorted by Row, Part
	Events []Count // Row = EventID: how often
	Costs  []Count // Row = EventID: clock units lost to the event (subset of rows; a lock wait's cost is its time)
	// Row = NodeID: clock units spent in the block, when Meta.NodeTime == "stored"; event costs
	// included, but for those of waits (Family.Waits): a thread that waits runs no block
	Times []Count
}

// DetailConflict is the part of an event's detail which says that most of its misses are of lines
// that left a cache for want of room in their set, where sets go by page frames: with pages in
// other frames they might not be.
const DetailConflict = "conflicts of page frames"

// PathNode is a node of the call-path tree (sampled by wall clock or by the
// simulated clock); Parent None is a thread's root.
type PathNode struct {
	Parent PathID
	Node   NodeID // block or pseudo node of the frame
	Addr   uint64
}

// PathSample is a metric of a call path: samples, idleness, lock wait, overhead.
type PathSample struct {
	Path    PathID
	Thread  ThreadID
	Section SectionID
	Metric  string  // "time", "idleness", "lock-wait", "lock-blame", "overhead"
	Value   float64 // clock units
}

var _ = unit.Addr(0)
