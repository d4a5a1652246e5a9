// Package report turns an analysis into what people and programs read: text
// for a terminal, JSON (a contract, docs/report-json.md), one self-contained
// HTML file, the comparison of two runs, and annotated source. It renders one
// model, Report, in each of these forms. It may import analysis, ledger,
// profile, safe and unit; it opens no binary and no source file.
package report

import (
	"path"
	"strconv"
	"strings"

	"lime/internal/analysis"
	"lime/internal/unit"
)

// Schema names the version of the JSON form. The number rises when a field
// changes its meaning or goes away; new fields leave it alone.
const Schema = "lime-report/1"

// Report is the whole answer. Its JSON form is the contract.
type Report struct {
	Schema   string        `json:"schema"`
	Tool     string        `json:"tool"`
	Program  Program       `json:"program"`
	Whole    Whole         `json:"whole"`
	Verdicts []Verdict     `json:"verdicts"`
	Notes    []Note        `json:"notes"`
	Sections []Section     `json:"sections"`               // by all that they lose, the most first
	Serial   []Stretch     `json:"serial"`                 // one thread alone at work, the longest first
	Shares   *LossShares   `json:"loss,omitempty"`         // what became of all the core time, by term: these add up to 1
	Loss     *Loss         `json:"loss_account,omitempty"` // the account behind it
	Locks    []Lock        `json:"locks"`                  // that threads waited for, the longest waits first
	Costs    []Cost        `json:"costs"`
	Effort   *Effort       `json:"effort,omitempty"`
	Waste    *Waste        `json:"waste,omitempty"`
	Instrs   *Instructions `json:"instructions,omitempty"`
}

// Program describes the run that was analysed.
type Program struct {
	Command    []string `json:"command"`
	Collector  string   `json:"collector"`
	Model      string   `json:"model"`
	Cores      int      `json:"cores"`
	Threads    int      `json:"threads"`
	Ranks      int      `json:"ranks,omitempty"` // processes whose profiles were put together
	ClockUnit  string   `json:"clock_unit"`      // unit of every time below: "instructions", "cycles" or "ns"
	TimeLabel  string   `json:"time_label"`
	CountLabel string   `json:"count_label"`
	RunTime    float64  `json:"run_time"`
	EndState   string   `json:"end_state"`
	ExitStatus int      `json:"exit_status"`
	Complete   bool     `json:"complete"`
	Resolved   bool     `json:"resolved"`

	Measured *analysis.Measured `json:"measured,omitempty"` // the part of the run that was measured; nil: all of it
}

// Whole holds the figures of the whole run, in the terms of the POP project.
type Whole struct {
	Width                   int     `json:"width"` // most threads that were at work together
	UsefulTime              float64 `json:"useful_time"`
	ParallelEfficiency      float64 `json:"parallel_efficiency"` // useful time / (width * run time)
	LoadBalance             float64 `json:"load_balance"`        // mean / max of the useful times
	CommunicationEfficiency float64 `json:"communication_efficiency"`
	SerialShare             float64 `json:"serial_share"` // of the run time, with one thread at work
	LostTime                float64 `json:"lost_time"`    // waits in parallel sections
	LostShare               float64 `json:"lost_share"`   // of width * run time
	LockShare               float64 `json:"lock_share"`
	OffCPUShare             float64 `json:"off_cpu_share"`
	ContendedShare          float64 `json:"contended_share"` // of width * run time: threads that kept one another waiting within sections
}

// Verdict is a judgement on the data, with a stable code.
type Verdict struct {
	Code     string `json:"code"`
	Severity string `json:"severity"` // "info" or "warn"
	Text     string `json:"text"`
}

// Note is a remark of the collector's or resolver's.
type Note struct {
	Code  string `json:"code"`
	Text  string `json:"text"`
	Times uint64 `json:"times,omitempty"`
}

// Place is a source position; File is empty where only a symbol or an address
// is known.
type Place struct {
	File     string  `json:"file"`
	Line     int     `json:"line"`
	Function string  `json:"function"`
	Address  string  `json:"address,omitempty"`
	Image    string  `json:"image,omitempty"`
	Inlined  []Frame `json:"inlined_into,omitempty"` // innermost first
}

// Frame is one level of a call path or of inlining.
type Frame struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
}

// HostTimes is what a section's parts took on the host, in seconds.
type HostTimes = analysis.HostTimes

// Section is a parallel section, summed over its instances.
type Section struct {
	ID        int     `json:"id"`
	Kind      string  `json:"kind"`
	EndsAt    Place   `json:"ends_at"`
	StartsAt  *Place  `json:"starts_at,omitempty"`
	Imbalance float64 `json:"imbalance"`  // all waits / (n * longest time), over all instances
	LostShare float64 `json:"lost_share"` // of width * run time
	LostTime  float64 `json:"lost_time"`  // all waits
	Instances int     `json:"instances"`
	Team      Team    `json:"team"`
	Analysed  int     `json:"analysed"`    // instances whose counts were read
	Time      float64 `json:"time"`        // sum of the instances' longest times
	TimeToWin float64 `json:"time_to_win"` // sum of longest - mean
	WinShare  float64 `json:"win_share"`   // of the run time
	Speedup   float64 `json:"speedup_if_balanced"`
	Balanced  bool    `json:"balanced"` // what is lost is less than the measurement can tell from nothing
	Matters   bool    `json:"matters"`  // what is lost is worth a person's time
	// ParallelShare is the part of the threads' time in all parallel sections that is lost here.
	ParallelShare float64 `json:"parallel_share"`
	IdleShare     float64 `json:"idle_share"`
	// of the core time: all terms of Loss but useful work and serial. Sections are sorted by it
	AllLost   float64    `json:"all_lost"`
	Awaited   float64    `json:"awaited"`         // of that: others' threads waited for what was done here
	Loss      LossShares `json:"loss"`            // what its parts' core time went into
	Contended float64    `json:"contended_share"` // of the threads' time: they keep one another waiting
	// Slower is where most of the work is that some threads take longer for, though none does it
	// more often.
	Slower  *Place   `json:"slower,omitempty"`
	Tasks   *Tasks   `json:"tasks,omitempty"`
	Granule *Granule `json:"granule,omitempty"`
	// of the time to win: which thread took which piece of work
	Chance  float64      `json:"chance,omitempty"`
	Host    *HostTimes   `json:"host,omitempty"`
	Threads []ThreadTime `json:"threads"` // totals over the instances
	Worst   Worst        `json:"worst"`   // the instance that lost most
	Course  Course       `json:"course"`
	Exact   bool         `json:"exact"` // shares are the ledger's, and exact
	Ledger  *Ledger      `json:"ledger,omitempty"`
	Balance *Balance     `json:"balance,omitempty"`
	Causes  []Cause      `json:"causes"`                 // the important ones, by rank
	Minor   []Cause      `json:"minor_causes,omitempty"` // below the threshold of importance
	// Candidates correlate with the times, but chance may do that, or the account charges them next
	// to nothing.
	Candidates []Candidate        `json:"candidates,omitempty"`
	R2         Interval           `json:"r2"`               // share of the variance in time that the regression explains
	Events     map[string]float64 `json:"events,omitempty"` // how many took part in each step
	Verdicts   []Verdict          `json:"verdicts"`
}

// Tasks are those that a runtime gave to a section's threads.
type Tasks struct {
	Place
	Count        uint64  `json:"count"`
	Mean         float64 `json:"mean"`
	RuntimeShare float64 `json:"runtime_share"` // of the work
	Advice       string  `json:"advice"`
}

// Granule is a piece of work that takes longer than what is lost.
type Granule struct {
	Place
	Count uint64  `json:"count"`
	Mean  float64 `json:"mean"`
	Lead  float64 `json:"lead"` // of the last thread before the mean, in pieces
}

// Stretch is a serial part of the run.
type Stretch struct {
	ID        int     `json:"id"` // the places of the account name it
	EndsAt    Place   `json:"ends_at"`
	Time      float64 `json:"time"`
	TimeShare float64 `json:"time_share"` // of the run time
	AllLost   float64 `json:"all_lost"`   // of the core time, as of sections
	Instances int     `json:"instances"`
	Spent     *Spent  `json:"spent,omitempty"`   // where most of it goes
	Loading   float64 `json:"loading,omitempty"` // and the share in which the dynamic linker loads libraries
}

// Team is the number of threads that take part in an instance, from the smallest to the largest.
type Team struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// ThreadTime is a thread's time in a section, summed over the instances.
type ThreadTime struct {
	Thread   int     `json:"thread"`
	Name     string  `json:"name,omitempty"`
	Time     float64 `json:"time"`
	Wait     float64 `json:"wait"`
	LockWait float64 `json:"lock_wait,omitempty"`
	OffCPU   float64 `json:"off_cpu,omitempty"`
	Last     int     `json:"last"` // how often it came last
}

// Worst is one instance, thread by thread.
type Worst struct {
	Seq       int       `json:"seq"`
	Imbalance float64   `json:"imbalance"`
	LostTime  float64   `json:"lost_time"`
	Threads   []int     `json:"threads"`
	Times     []float64 `json:"times"`
	Waits     []float64 `json:"waits"`
}

// Course is the loss over the instances.
type Course struct {
	Shape  string  `json:"shape"`
	Text   string  `json:"text"`
	Points []Point `json:"points"`
}

// Point is one instance, or Count in a row.
type Point struct {
	Seq       int     `json:"seq"`
	Count     int     `json:"count"`
	Imbalance float64 `json:"imbalance"`
	LostTime  float64 `json:"lost_time"`
	Time      float64 `json:"time"`
}

// Interval is an estimate with its 95 % confidence bounds.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Ledger is the exact account: its rows and the rest add up to Total.
type Ledger struct {
	Total        float64     `json:"total"`             // longest - mean time, summed over the instances
	Exact        bool        `json:"exact"`             // from exact counts
	Cancels      bool        `json:"cancels,omitempty"` // the rows come to so much more than the total that shares of it say nothing
	Rows         []LedgerRow `json:"rows"`
	RestRows     int         `json:"rest_rows"`
	RestPositive float64     `json:"rest_positive"`
	RestNegative float64     `json:"rest_negative"`
	Residual     float64     `json:"residual"` // rounding
	Spent        *Spent      `json:"spent,omitempty"`
	Notes        []string    `json:"notes,omitempty"`
	Threads      []int       `json:"threads"` // whose values the rows' per_thread hold
	Deviation    []float64   `json:"deviation"`
}

// Spent is the line at which the last threads spent most time beyond the mean, or a serial stretch
// most of its time.
type Spent struct {
	Place
	Share float64 `json:"share"`           // of the ledger's total, of the stretch
	About bool    `json:"about,omitempty"` // it is an estimate
}

// LedgerRow is what one place contributed to the time of the last thread.
type LedgerRow struct {
	Share     float64   `json:"share,omitempty"` // none where rows cancel
	Time      float64   `json:"time"`
	Kind      string    `json:"kind"`            // as the ledger calls it: branch, loop, call, price, lock-wait, ...
	Event     string    `json:"event,omitempty"` // of a price or a wait
	Detail    string    `json:"detail,omitempty"`
	File      string    `json:"file"`
	Line      int       `json:"line"`
	Function  string    `json:"function"`
	Address   string    `json:"address,omitempty"`
	What      string    `json:"what"`
	PerThread []float64 `json:"per_thread,omitempty"` // time beyond the mean
	Inside    *Place    `json:"inside,omitempty"`     // where in a library the time went that the line called
	With      []NetRow  `json:"with,omitempty"`       // rows that made up for one another with this one: it is what they come to together
}

// NetRow is a row of the account that was added to another.
type NetRow struct {
	Share    float64 `json:"share,omitempty"`
	Time     float64 `json:"time"`
	Kind     string  `json:"kind"`
	File     string  `json:"file"`
	Line     int     `json:"line"`
	Function string  `json:"function"`
	Address  string  `json:"address,omitempty"`
}

// Cause is one reason for a section's imbalance.
type Cause struct {
	Rank      int    `json:"rank"`
	Family    string `json:"family"` // "control-flow" or "hardware"
	Event     string `json:"event"`
	Title     string `json:"title"`
	Recursive bool   `json:"recursive,omitempty"`
	Place
	Callee  string `json:"callee,omitempty"`
	Sharing string `json:"sharing,omitempty"` // "false sharing with a.c:16"
	Data    string `json:"data,omitempty"`    // "counters+0x18", "memory allocated at a.c:9"
	Against string `json:"against,omitempty"` // data of the other side of the sharing
	// most of it is conflicts of page frames, which another placement of pages may not have
	Luck bool `json:"luck,omitempty"`
	// Elsewhere is what the share would be in other placements of the program's pages.
	Elsewhere []float64 `json:"share_elsewhere,omitempty"`
	Score     float64   `json:"score"`
	Share     float64   `json:"share"`
	// "ledger" (exact), "r2" (of the variance) or "time" (of the threads' time in the section,
	// which all of them pay), "none" where others make up for it
	ShareKind  string  `json:"share_kind"`
	LedgerTime float64 `json:"ledger_time,omitempty"` // what the account charges, where there is no share
	// of the threads' time in the section: they keep one another waiting here
	CostShare       float64         `json:"cost_share,omitempty"`
	ShareInterval   *Interval       `json:"share_interval,omitempty"` // of the ledger's, over the instances
	R2              Interval        `json:"r2"`
	Beta            float64         `json:"beta"`
	P               float64         `json:"p"`
	Correlation     float64         `json:"correlation"`
	Stability       float64         `json:"stability"` // the smaller of the next two
	StableThreads   float64         `json:"stability_threads"`
	StableInstances float64         `json:"stability_instances"`
	Agreement       string          `json:"agreement,omitempty"` // where score and ledger disagree
	With            []Place         `json:"with,omitempty"`      // where else the same decision stands
	Parts           []Part          `json:"parts,omitempty"`     // the events that it is joined of, the one that names it first
	TimeToWin       float64         `json:"time_to_win"`
	WinShare        float64         `json:"win_share"` // of the run time
	Sentence        string          `json:"sentence"`
	Seq             int             `json:"instance"` // of Counts
	Summed          bool            `json:"counts_of_all_instances,omitempty"`
	CountTime       bool            `json:"counts_are_time,omitempty"`
	Counts          []ThreadCount   `json:"counts,omitempty"`
	Source          []SourceLine    `json:"source,omitempty"`
	Members         []Member        `json:"members,omitempty"`
	Rivals          []Rival         `json:"rivals,omitempty"`
	Scores          []InstanceScore `json:"instance_scores,omitempty"`
	Verified        *Verified       `json:"verified,omitempty"`   // lime report --verify
	Paths           [][]Frame       `json:"call_paths,omitempty"` // outermost first
}

// Part is one of the events of a cause that has several: an access that misses in several levels.
type Part struct {
	Event     string   `json:"event"`
	Title     string   `json:"title"`
	Score     float64  `json:"score"`
	Share     *float64 `json:"share,omitempty"` // of the account, where there is one
	TimeToWin float64  `json:"time_to_win"`
}

// Candidate is a place that correlates with the times without being a cause.
type Candidate struct {
	Family string `json:"family"`
	Event  string `json:"event"`
	Title  string `json:"title"`
	Place
	Callee      string   `json:"callee,omitempty"`
	Score       float64  `json:"score"`
	Share       *float64 `json:"share,omitempty"` // of the account, where there is one
	PFamily     float64  `json:"p_family"`
	Correlation float64  `json:"correlation"`
	Why         string   `json:"why"` // it is no cause
}

// ThreadCount is a cause's event beside the time, in one thread of one instance.
type ThreadCount struct {
	Thread int     `json:"thread"`
	Name   string  `json:"name,omitempty"`
	Count  uint64  `json:"count"`
	Time   float64 `json:"time"`
	Wait   float64 `json:"wait"`
}

// SourceLine is one line of source text; Mark points out the cause.
type SourceLine struct {
	Line int    `json:"line"`
	Text string `json:"text"`
	Mark bool   `json:"mark,omitempty"`
}

// Member is a source line whose events rise and fall with a cause.
type Member struct {
	Place
	Family string   `json:"family"`
	Kinds  []string `json:"kinds"`
	Events int      `json:"events"`
}

// Rival is a place that the data cannot tell apart from a cause.
type Rival struct {
	Place
	Event       string  `json:"event"`
	R2          float64 `json:"r2"`
	Correlation float64 `json:"correlation"`
}

// InstanceScore is a cause in one instance; Score 0 means not found there.
type InstanceScore struct {
	Seq       int     `json:"seq"`
	Weight    float64 `json:"weight"`
	Imbalance float64 `json:"imbalance"`
	Score     float64 `json:"score"`
	R2        float64 `json:"r2"`
}

// Where returns the row's position.
func (r *LedgerRow) Where() Place {
	return Place{File: r.File, Line: r.Line, Function: r.Function, Address: r.Address}
}

// Short names the place as briefly as it can be found: lu.c:598, or the
// function, or the address.
func (p Place) Short() string {
	switch {
	case p.File != "" && p.Line > 0:
		return path.Base(p.File) + ":" + strconv.Itoa(p.Line)
	case p.Function != "":
		return p.Function
	case !p.unknown():
		return p.Address
	}
	return "(unknown place)"
}

// End names the end of a section, or of a stretch of one thread's work. Only what lasts until the
// program ends has no place.
func (p Place) End() string {
	if p.unknown() {
		return "the end of the program"
	}
	return p.String()
}

// EndShort is End as briefly as it can be said.
func (p Place) EndShort() string {
	if p.unknown() {
		return p.End()
	}
	return p.Short()
}

// unknown tells whether nothing is known of the place.
func (p Place) unknown() bool {
	return p.File == "" && p.Function == "" && (p.Address == "" || p.Address == "0x0")
}

// String names the place with its function.
func (p Place) String() string {
	short := p.Short()
	if p.Function == "" || short == p.Function {
		return short
	}
	return short + " in " + p.Function
}

// CommandLine returns the command as one line.
func (p *Program) CommandLine() string { return strings.Join(p.Command, " ") }

// Short prints a time of this run without the words of its unit.
func (p *Program) Short(x float64) string {
	if p.ClockUnit == "ns" {
		return unit.Nanos(x).String()
	}
	return unit.SI(x)
}

// Quantity prints a time of this run with its unit.
func (p *Program) Quantity(x float64) string {
	switch p.ClockUnit {
	case "ns":
		return unit.Nanos(x).String()
	case "":
		return unit.SI(x)
	}
	return unit.SI(x) + " " + p.ClockUnit
}
