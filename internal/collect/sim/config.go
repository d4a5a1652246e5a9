// What a run is asked for, and what it answers.

package sim

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"lime/internal/collect/region"
	"lime/internal/guest"
	"lime/internal/machine"
	"lime/internal/profile"
	"lime/internal/waste"
)

// Options say what to run, and how.
type Options struct {
	Cores       int           // simulated cores; 0: 8
	Asked       bool          // that many were asked for: those without a thread are lost
	Machine     string        // a machine: name of a preset, or file; "" or "count": an instruction takes one cycle
	MachineText string        // its description, where Machine is but its name
	Settings    []string      // "key=value" over the machine's description
	Erase       []Erase       // events that shall not happen
	Even        [][]Stretch   // by thread and number of the part: how much less time it is to take
	Locks       []LockChange  // what is to be otherwise about locks
	NumberParts bool          // tell the numbers of the parts
	Cmd         string        // the program, looked up in PATH if it has no slash
	Args        []string      // its arguments, without the name
	Env         []string      // nil: lime's own
	Out         string        // the profile; "": lime.data
	SectionEnds []string      // functions at which sections end, too
	Waste       waste.Set     // kinds of wasted memory work to look for; model count only
	Tolerance   float64       // by how much floating-point numbers may differ and still be the same
	Parallel    bool          // the threads run in parallel, at the host's speed
	For         time.Duration // Parallel: for how long it is counted; 0: until it ends
	Turn        int64         // model count: how many instructions a core may run ahead of the others; 0: 5,000
	Interval    uint64        // clock units of a thread between two looks at its call path, at first; 0: 20,000
	Traces      int64         // bytes for the traces of call paths; 0: the default, less: none
	Region      region.Spec   // what of the run is measured
	HostCPU     bool          // the program may use all that the host's processor has
	Progress    bool          // show a progress line on Stderr
	Tool        string        // name and version, for the profile
	Rank        profile.RankInfo
	GoesOn      func(*Result) // Parallel: called when the profile is there and the program goes on
	Children    string        // a directory for the profiles of what the program starts; "": that runs natively
	Lime        string        // the program to start as the child; "": this one

	Stdin          io.Reader // nil: lime's own
	Stdout, Stderr io.Writer
}

// Result says how the run ended.
type Result struct {
	Status    int    // exit status to pass on: the program's own, 128 + N after signal N, or 125 to 127
	Signal    int    // that ended the program; 0: none did
	ByKey     bool   // the signal was that of the terminal's key, and meant for lime, too
	EndState  string // as in profile.Meta
	Message   string // for the user: why it could not be run, or how it died
	Instances int
	Threads   int
	RunTime   uint64 // clock units
	Notes     []profile.Note
	GoesOn    bool    // the counting was over before the program
	Missed    float64 // of Even: the part of it that could not be carried out
	NoLock    bool    // none of Locks was there
	Never     string  // why nothing was measured of a run of which Region is; "": something was
	Parts     [][]int // with NumberParts: by thread, in the order of time, those of the parts in the profile
}

// MaxCores is the largest machine.
const MaxCores = 1024

// Exit statuses of lime's own, as env, nice and timeout have them.
const (
	statusFailed    = 125
	statusCannotRun = 126
	statusNotFound  = 127
	statusAgain     = 250 // child to parent only: an address is taken, start again
)

// Config is what the child is told.
type Config struct {
	Cores       int
	Asked       bool
	Model       string // name of the machine
	Machine     string // its description; "": model count
	Erase       []Erase
	Even        [][]Stretch
	Locks       []LockChange
	NumberParts bool
	Cmd         string
	Args        []string // argv
	Env         []string
	Tries       int  // starts so far that found an address taken
	Settled     bool // this process was started without random addresses: see settle
	Parent      int  // the process that asks; the run ends with it
	Out         string
	SectionEnds []string
	Waste       waste.Set
	Tolerance   float64
	Parallel    bool
	For         time.Duration
	Turn        int64
	Interval    uint64
	Traces      int64
	Region      region.Spec
	HostCPU     bool
	Progress    bool
	Tool        string
	Rank        profile.RankInfo
	Children    string       // the directory of the profiles of what child processes start
	Filtered    bool         // the kernel stops child processes there already
	Found       *guest.Found // nil: what this process was started with
	Followed    bool         // a child process started this: nobody waits for its result, but for its end

	interrupted func() bool
	answer      *os.File
}

// modelCount is the model without a machine.
const modelCount = "count"

// meter makes what measures time.
func (c *Config) meter() (Meter, error) {
	if c.Waste != 0 {
		return newWasteMeter(c)
	}
	if c.Machine == "" {
		return newCountMeter(c), nil
	}
	return newMachineMeter(c)
}

// describe finds the machine of the options; without one, the answer is model count.
func (o *Options) describe() (model, text string, cores int, err error) {
	if o.Machine == "" || o.Machine == modelCount {
		return modelCount, "", 8, nil
	}
	d, err := o.load()
	if err != nil {
		return "", "", 0, err
	}
	if o.Cores > 0 {
		d.Cores = o.Cores
	}
	return d.Name, d.Text(), d.Cores, nil
}

func (o *Options) load() (*machine.Description, error) {
	if o.MachineText != "" {
		return machine.Parse(o.Machine, o.MachineText, o.Settings...)
	}
	return machine.Load(o.Machine, o.Settings...)
}

func (o *Options) config() (Config, error) {
	model, text, cores, err := o.describe()
	if err != nil {
		return Config{}, err
	}
	c := Config{
		Cores: o.Cores, Asked: o.Asked, Model: model, Machine: text, Erase: o.Erase, Even: o.Even, Locks: o.Locks, NumberParts: o.NumberParts,
		Cmd: o.Cmd, Args: append([]string{o.Cmd}, o.Args...), Env: o.Env, Out: o.Out,
		SectionEnds: o.SectionEnds, Waste: o.Waste, Tolerance: o.Tolerance, Turn: o.Turn, Parallel: o.Parallel,
		Interval: o.Interval, Traces: o.Traces, For: o.For, Region: o.Region, HostCPU: o.HostCPU, Progress: o.Progress, Tool: o.Tool, Rank: o.Rank,
		Children: o.Children,
	}
	if c.Cores == 0 {
		c.Cores = cores
	}
	if c.Out == "" {
		c.Out = "lime.data"
	}
	if whole, err := filepath.Abs(c.Out); err == nil { // the program may change the directory of the process that writes it
		c.Out = whole
	}
	if c.Tool == "" {
		c.Tool = "lime"
	}
	return c, nil
}
