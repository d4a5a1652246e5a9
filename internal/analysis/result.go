package analysis

import (
	"lime/internal/ledger"
	"lime/internal/profile"
)

// Result is the whole answer. It is plain data: reports render it, JSON holds it.
// Times are in the profile's clock unit (Run.ClockUnit), shares are ratios from 0 to 1.
type Result struct {
	Run      RunInfo   `json:"run"`
	Whole    Whole     `json:"whole"`
	Sections []Section `json:"sections"`         // by AllLost, most first; serial ones excluded
	Serial   []Section `json:"serial"`           // stretches of one thread alone, by time, most first
	Loss     *Loss     `json:"loss"`             // the account of all the core time
	Locks    []LockUse `json:"locks,omitempty"`  // for which threads waited, the longest waits first
	Costs    []Cost    `json:"costs,omitempty"`  // what events cost all threads together
	Effort   *Effort   `json:"effort,omitempty"` // of recorded profiles
	Verdicts []Verdict `json:"verdicts"`         // on the whole profile
	Options  Options   `json:"options"`
}

// RunInfo says where the data come from.
type RunInfo struct {
	Tool       string         `json:"tool"`
	Collector  string         `json:"collector"`
	Model      string         `json:"model"`
	Command    []string       `json:"command"`
	Cores      int            `json:"cores"`
	ClockUnit  string         `json:"clock_unit"`
	ClockHz    float64        `json:"clock_hz"`
	TimeLabel  string         `json:"time_label"`  // measured, modelled, sampled, unavailable
	CountLabel string         `json:"count_label"` // measured, modelled, sampled, unavailable
	EndState   string         `json:"end_state"`
	ExitStatus int            `json:"exit_status"`
	Complete   bool           `json:"complete"`
	Resolved   bool           `json:"resolved"`
	Notes      []profile.Note `json:"notes,omitempty"`
	Measured   *Measured      `json:"measured,omitempty"` // nil: the whole run
}

// Measured is the part of a run that was measured.
type Measured struct {
	Options   []string `json:"options"`   // that asked for it
	Time      uint64   `json:"time"`      // ns of it, as the program's clock has them
	Whole     uint64   `json:"whole"`     // and of the whole run
	Stretches int      `json:"stretches"` // how many it is made of
}

// Whole holds the figures of the whole program, as the POP project defines them:
// ParallelEfficiency = LoadBalance x CommunicationEfficiency.
type Whole struct {
	RunTime float64 `json:"run_time"`
	Threads int     `json:"threads"` // created
	// most threads of a section, or at work together for 1 % of the run, at most the cores: the
	// processors counted
	Width                   int     `json:"width"`
	Unused                  int     `json:"unused"`                   // cores beyond these that the user asked for
	UsefulTime              float64 `json:"useful_time"`              // all threads
	ParallelEfficiency      float64 `json:"parallel_efficiency"`      // useful / (width x run time)
	LoadBalance             float64 `json:"load_balance"`             // mean useful / max useful, over the width lanes
	CommunicationEfficiency float64 `json:"communication_efficiency"` // max useful / run time: what waiting and serial parts cost
	SerialShare             float64 `json:"serial_share"`             // of the run time: outside of every parallel section
	SpeedupLimit            float64 `json:"speedup_limit"`            // Amdahl: 1 / serial share, 0 if there is no serial part
	LostTime                float64 `json:"lost_time"`                // sum of all waits in sections
	LostShare               float64 `json:"lost_share"`               // lost time / (width x run time)
	// of width x run time: threads that kept one another waiting within sections
	ContendedShare float64 `json:"contended_share"`
	LockShare      float64 `json:"lock_share"`    // of the time in sections: blocked on locks
	OffCPUShare    float64 `json:"off_cpu_share"` // of the time in sections: off the processor
	Instances      int     `json:"instances"`

	time *timeline
}

// Place is a position in the program. Line 0 or File "" means unknown: then Address and
// Image say where.
type Place struct {
	File     string  `json:"file"`
	Line     int     `json:"line"`
	Column   int     `json:"column,omitempty"`
	Function string  `json:"function"`
	Inlined  []Frame `json:"inlined,omitempty"` // where it was inlined into, innermost first; empty if nowhere
	Address  string  `json:"address,omitempty"`
	Image    string  `json:"image,omitempty"`
	Text     string  `json:"text,omitempty"` // the source line, if the profile carries it
}

// Frame is one level of inlining.
type Frame struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
}

// Section is a parallel section over all its instances.
type Section struct {
	ID        profile.SectionID `json:"id"`
	Kind      string            `json:"kind"`
	EndsAt    Place             `json:"ends_at"`
	Starts    Place             `json:"starts"`
	Imbalance float64           `json:"imbalance"`  // all waits / (n x T_max), over all instances
	LostTime  float64           `json:"lost_time"`  // all waits
	LostShare float64           `json:"lost_share"` // lost time / (width, or threads of the section if more, x run time of the program)
	TimeToWin float64           `json:"time_to_win"`
	WinShare  float64           `json:"win_share"` // time to win / run time
	Speedup   float64           `json:"speedup"`   // of the section, if it were balanced
	// of the time to win: which thread took which piece of work that went to whoever came first
	Chance        float64    `json:"chance,omitempty"`
	Host          *HostTimes `json:"host,omitempty"`
	Time          float64    `json:"time"`        // sum of T_max
	TimeShare     float64    `json:"time_share"`  // of the run time
	ThreadsMin    int        `json:"threads_min"` // threads that took part
	ThreadsMax    int        `json:"threads_max"`
	InstanceCount int        `json:"instances"`
	AnalysedCount int        `json:"analysed"`       // instances whose counts were read
	AnalysedShare float64    `json:"analysed_share"` // of the lost time, in those
	LockShare     float64    `json:"lock_share"`     // of the threads' time: blocked on locks
	OffCPUShare   float64    `json:"off_cpu_share"`
	// of all threads: at the lines where they keep one another waiting (contention.go)
	ContendedTime  float64    `json:"contended_time,omitempty"`
	ContendedShare float64    `json:"contended_share,omitempty"` // of the threads' time
	Loss           LossShares `json:"loss"`                      // what its parts' time went into, by term
	// of the core time: all of them but useful work. Sections are sorted by it
	AllLost float64 `json:"all_lost"`
	Awaited float64 `json:"awaited"` // of that: threads of other sections waited for what was done here
	// of the threads' time from the section's start to its end: even who worked longest had nothing
	// to do
	AwayShare float64 `json:"away_share"`
	IdleShare float64 `json:"idle_share"` // the same for all threads, those included who had less to do
	// where most of the work is that some threads take longer for, though none does it more often,
	// as samples tell
	Slower        *Place         `json:"slower,omitempty"`
	Tasks         *Tasks         `json:"tasks,omitempty"`
	Granule       *Granule       `json:"granule,omitempty"`
	Threads       []ThreadTotal  `json:"threads"` // totals over the instances, by thread
	Worst         InstanceDetail `json:"worst"`   // the instance that lost most, thread by thread
	Course        Course         `json:"course"`
	Balanced      bool           `json:"balanced"`       // what it loses is less than the measurement can tell from nothing
	Matters       bool           `json:"matters"`        // what it loses is worth a person's time
	ParallelShare float64        `json:"parallel_share"` // of the threads' time in all parallel sections: lost here
	Causes        []Cause        `json:"causes"`         // by rank; important ones first
	Candidates    []Cause        `json:"candidates,omitempty"`
	Explained     Interval       `json:"explained"`   // R^2 of the regression, mean over instances by weight
	Unexplained   float64        `json:"unexplained"` // 1 - Explained.Value, or what the ledger leaves over
	Events        EventStats     `json:"events"`
	Balance       *Balance       `json:"balance,omitempty"` // of sampled profiles
	Verdicts      []Verdict      `json:"verdicts"`
	// Cancels says that the account's rows come to so much more than the imbalance, before what
	// they take back, that shares of it say nothing.
	Cancels        bool            `json:"cancels,omitempty"`
	HasLedger      bool            `json:"has_ledger"` // cause.Share is exact
	LedgerRestSum  float64         `json:"ledger_rest_sum,omitempty"`
	LedgerPositive float64         `json:"ledger_rest_positive,omitempty"`
	LedgerNegative float64         `json:"ledger_rest_negative,omitempty"`
	Ledger         *ledger.Account `json:"ledger,omitempty"` // the account; nil where nothing is lost

	Spent   *ledger.Spent `json:"spent,omitempty"`   // of serial stretches: where most of their time goes
	Loading float64       `json:"loading,omitempty"` // and the dynamic linker's share of it
	Wasted  []Wasted      `json:"wasted,omitempty"`

	chanceLost float64                      // of LostTime, as Chance of TimeToWin
	helpers    map[profile.ThreadID]float64 // threads that share none of its work, and for how long they ran

	draws   *shareDraws
	samples float64 // per thread and analysed instance, in sampled profiles
}

// Tasks are those that a runtime gave to the section's threads.
type Tasks struct {
	Place         // where those are made which take most time
	Count uint64  `json:"count"`
	Mean  float64 `json:"mean"` // time of one, its part of the time in which they were made included
	// of the threads' time: in the runtime's own code, which makes them and hands them out
	RuntimeShare float64          `json:"runtime_share"`
	MakerShare   float64          `json:"maker_share"` // of the runtime's time: of the thread that has most of it
	Maker        profile.ThreadID `json:"maker"`
	Advice       string           `json:"advice"` // as in Effort
}

// ThreadTotal is one thread's part in a section over its instances.
type ThreadTotal struct {
	Thread    profile.ThreadID `json:"thread"`
	Name      string           `json:"name"`
	Instances int              `json:"instances"`
	Time      float64          `json:"time"`
	Wait      float64          `json:"wait"`
	LockWait  float64          `json:"lock_wait"`
	OffCPU    float64          `json:"off_cpu"`
	Last      int              `json:"last"` // how often it came last
}

// InstanceDetail is one instance, thread by thread.
type InstanceDetail struct {
	Seq       int                `json:"seq"`
	Imbalance float64            `json:"imbalance"`
	LostTime  float64            `json:"lost_time"`
	Threads   []profile.ThreadID `json:"threads"`
	Times     []float64          `json:"times"`
	Waits     []float64          `json:"waits"`
}

// Shapes of a course over the instances.
const (
	CourseSingle    = "single"    // there is one instance
	CourseEven      = "even"      // all lose about the same
	CourseFirst     = "first"     // the first one or few lose most
	CourseOne       = "one"       // one that is not the first loses most
	CoursePeriodic  = "periodic"  // every k-th
	CourseGrowing   = "growing"   // more and more
	CourseShrinking = "shrinking" // less and less
	CourseUneven    = "uneven"    // none of these
)

// Course says how the loss is spread over the instances.
type Course struct {
	Shape  string  `json:"shape"`
	Seq    int     `json:"seq,omitempty"`    // of the one that matters: first, one
	Period int     `json:"period,omitempty"` // every Period-th, beginning with Phase
	Phase  int     `json:"phase,omitempty"`
	Share  float64 `json:"share,omitempty"` // of the lost time, in the instances that the shape names
	Text   string  `json:"text"`
	Points []Point `json:"points"` // by Seq; neighbours pooled when there are very many
}

// Point is one instance of a course, or Count neighbours pooled.
type Point struct {
	Seq       int     `json:"seq"`
	Count     int     `json:"count"`
	Imbalance float64 `json:"imbalance"`
	LostTime  float64 `json:"lost_time"`
	Time      float64 `json:"time"`
}

// Families of causes.
const (
	FamilyControl  = "control-flow"
	FamilyHardware = "hardware"
)

// Control-flow events; hardware events have the names of the profile's kinds.
const (
	EventBranch = "branch"
	EventLoop   = "loop"
	EventCall   = "call"
	EventTask   = "task"  // a task that was run
	EventChunk  = "chunk" // a piece of work that a runtime dealt out
	EventEntry  = "entry" // other work than that of the others
	EventReturn = "return"
	EventJump   = "jump"
	EventVisit  = "visit" // a sampled place
)

// Cause is a source line (and family of event) that introduces imbalance.
type Cause struct {
	Rank      int    `json:"rank"`
	Family    string `json:"family"`
	Event     string `json:"event"`
	Title     string `json:"title"` // the event for people: "loop iterations", "L1 data miss"
	Recursive bool   `json:"recursive,omitempty"`
	Place
	Callee string `json:"callee,omitempty"` // function called, for a call
	Subject

	Score     float64 `json:"score"` // the LIME paper's final score, mean over the instances by weight
	Important bool    `json:"important"`
	// Share is the exact part of the imbalance that the ledger charges to this line; nil if
	// the profile's counts are not exact.
	Share *float64 `json:"share"`
	// ShareInterval says how much Share varies if the instances are drawn anew; nil with one
	// instance.
	ShareInterval *Interval `json:"share_interval,omitempty"`
	LedgerTime    float64   `json:"ledger_time,omitempty"` // Share in clock units, over all instances
	// Elsewhere is what Share would be in the other placements of pages that were looked at, of
	// misses that depend on it.
	Elsewhere []float64 `json:"share_elsewhere,omitempty"`
	// CostShare is the part of the threads' time in the section that goes into waiting for one
	// another here; 0 where that is little.
	CostShare   float64  `json:"cost_share,omitempty"`
	CostTime    float64  `json:"cost_time,omitempty"` // the same in clock units, all threads together
	Beta        float64  `json:"beta"`
	P           float64  `json:"p"`        // of the partial F test, smallest over instances
	PFamily     float64  `json:"p_family"` // guarded for the number of clusters and instances tried
	R2          Interval `json:"r2"`       // part of the variance in time that its cluster explains
	Correlation float64  `json:"correlation"`
	// Stability is how often it is found again with other data, the smaller of two figures: with
	// one thread left out, and with the instances drawn anew.
	Stability       float64 `json:"stability"`
	StableThreads   float64 `json:"stability_threads"`
	StableInstances float64 `json:"stability_instances"`
	Agreement       string  `json:"agreement,omitempty"`

	With []Place `json:"with,omitempty"` // where else the same decision stands: loops side by side over as much, or the one directly inside

	Parts []Part `json:"parts,omitempty"` // the events that it is joined of, where there are several; the first names it

	TimeToWin float64 `json:"time_to_win"` // clock units of the run, were it even
	WinShare  float64 `json:"win_share"`   // of the run time

	Sentence  string           `json:"sentence"`
	Seq       int              `json:"seq"`                  // instance of Threads
	Threads   []ThreadCount    `json:"threads"`              // the event beside the time, thread by thread
	Summed    bool             `json:"summed,omitempty"`     // Threads are sums over all instances, not those of Seq
	CountTime bool             `json:"count_time,omitempty"` // Count is time: what the place cost beyond the least burdened thread
	Members   []Member         `json:"members"`              // what follows from it, folded by line
	Rivals    []Rival          `json:"rivals,omitempty"`
	Instances []InstanceScore  `json:"instances"`
	Paths     [][]Frame        `json:"paths,omitempty"` // call paths that lead to it, outermost first
	Nodes     []profile.NodeID `json:"nodes,omitempty"`

	key  causeKey
	from *gathered
	// of CostTime: a thread's, and what there is to win by making it even
	meanCost, evenWin float64
	merged            bool
	// course is what the account charges, by group of instances.
	course []float64
	// luck is, by other placement of pages, what of LedgerTime would not be there.
	luck []float64
	// put is what the account charges, by thread of the account.
	put  []float64
	edge int32 // of causes that only the account knows: the way that varies most
}

// Interval is an estimate with its 95 % confidence bounds.
type Interval struct {
	Value float64 `json:"value"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
}

// ThreadCount is a cause's event in one thread of one instance.
type ThreadCount struct {
	Thread profile.ThreadID `json:"thread"`
	Name   string           `json:"name"`
	Count  uint64           `json:"count"`
	Time   float64          `json:"time"`
	Wait   float64          `json:"wait"`

	instances int // in which the thread took part, where the figures are sums over them
}

// Member is a source line whose events are in the cause's cluster.
type Member struct {
	Place
	Family string   `json:"family"`
	Kinds  []string `json:"kinds"`  // events on this line
	Events int      `json:"events"` // how many events were folded
}

// Rival is a place that the data cannot tell apart from the cause.
type Rival struct {
	Place
	Event       string  `json:"event"`
	R2          float64 `json:"r2"`          // what it would explain in the cause's stead
	Correlation float64 `json:"correlation"` // with the cause
}

// InstanceScore is a cause in one instance.
type InstanceScore struct {
	Seq       int     `json:"seq"`
	Weight    float64 `json:"weight"` // share of the section's imbalance weight
	Imbalance float64 `json:"imbalance"`
	Score     float64 `json:"score"` // 0: not found in this instance
	Beta      float64 `json:"beta"`
	P         float64 `json:"p"`
	R2        float64 `json:"r2"`
}

// EventStats counts events, as means over the analysed instances.
type EventStats struct {
	Total      float64 `json:"total"`        // with a count in any thread
	Constant   float64 `json:"constant"`     // the same in all threads: left out
	Caused     float64 `json:"caused"`       // nothing left after their superiors were removed
	Kept       float64 `json:"kept"`         // took part in the clustering
	Distinct   float64 `json:"distinct"`     // different vectors among them
	Clusters   float64 `json:"clusters"`     // of either family
	Control    float64 `json:"control_flow"` // control-flow clusters
	Hardware   float64 `json:"hardware"`     // hardware clusters
	Predictors float64 `json:"predictors"`   // clusters chosen by the regression
}

// Severities of a verdict.
const (
	SeverityInfo = "info"
	SeverityWarn = "warn"
)

// Verdict is a judgement on the data, with a stable code.
type Verdict struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Text     string `json:"text"`
}
