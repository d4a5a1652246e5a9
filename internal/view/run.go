package view

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"lime/internal/analysis"
	"lime/internal/profile"
	"lime/internal/report"
	"lime/internal/scale"
	"lime/internal/unit"
)

// Source is a profile that can be read in any order.
type Source interface {
	profile.Source
	scanner
	Instance(profile.SectionID, int) (*profile.Instance, error)
}

// Run is a profile that is served. What takes time is made once, when it is first asked for.
type Run struct {
	name  string
	path  string
	found os.FileInfo // what stood at path when it was opened; nil if nothing did
	src   Source
	heap  *Heap

	read     atomic.Int64 // instances of the index
	open     func() error // makes or maps the index
	parts    atomic.Pointer[index]
	sketch   func() (*Sketch, error)
	pictured chan struct{} // has room for one: somebody has the whole sketch
	report   func() (*report.Report, error)
	ran      func() (*ran, error)
	critical func() []step // of a run whose index could be made
	ranks    []int         // by thread
	lines    *lineCache
	paths    *pathTrees
	kept     *store       // nil: nothing is kept
	study    *scale.Run   // what a scaling study takes of the analysis, once there is a report
	unfit    error        // why there is no study
	took     atomic.Int64 // nanoseconds for the report
	ready    atomic.Bool  // the report is made, or what the page shows of it is kept
}

// NewRun prepares a profile. path is the file it was read from, which is looked at (not into) to
// tell whether it is still the same. All runs of a process share the heap.
func NewRun(src Source, path string, o analysis.Options, heap *Heap) *Run {
	r := &Run{name: filepath.Base(path), path: path, src: src, heap: heap, lines: &lineCache{src: src}, ranks: ranksOf(src)}
	r.paths = newPathTrees(src.Tables(), r.ranks)
	if info, err := os.Stat(path); err == nil {
		r.found = info
	}
	r.open = sync.OnceValue(r.openIndex)
	r.sketch, r.pictured = sync.OnceValues(r.openSketch), make(chan struct{}, 1)
	r.ran = r.openRan()
	r.critical = sync.OnceValue(func() []step {
		x, err := r.index()
		if err != nil {
			return nil
		}
		return x.critical(src.Tables())
	})
	r.report = sync.OnceValues(func() (rep *report.Report, err error) {
		defer caught("the analysis", &err)
		if _, err := r.index(); err != nil { // one after the other: each needs much memory for a while
			return nil, err
		}
		began := time.Now()
		var res *analysis.Result
		if rep, res, err = analyse(src, o, heap); err == nil {
			r.study, r.unfit = scale.From(r.name, res, 0)
			r.took.Store(int64(time.Since(began)))
			r.ready.Store(true)
		}
		return rep, err
	})
	return r
}

// Keep has what takes long to make kept below a directory, for the next time that the same profile
// is opened. The profile must be a file; options are those of the analysis.
func (r *Run) Keep(root string, o analysis.Options) error {
	if r.found == nil || r.found.IsDir() { // of a directory nobody knows in a moment whether a file in it is another one
		return nil
	}
	s, err := openStore(root, r.path, fmt.Sprint(fileState(r.path), fileState(r.path+"-wal"), program(), o))
	if err != nil {
		return fmt.Errorf("nothing is kept for the next start: %w", err)
	}
	r.kept = s
	return nil
}

// fileState tells a file from others, and from itself at another time.
func fileState(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "none"
	}
	own := uint64(0)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		own = st.Ino
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano(), own)
}

// program tells this lime from others, whose answers may be worded otherwise.
func program() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return fileState(path)
}

// index returns the index of the parts as soon as there is one.
func (r *Run) index() (*index, error) {
	err := r.open()
	return r.parts.Load(), err
}

// openIndex maps the index that was kept, or makes it.
func (r *Run) openIndex() error {
	if r.kept != nil {
		if x, err := mapped(r.kept.file(keptIndex)); err == nil {
			r.read.Store(r.instances())
			r.parts.Store(x)
			return nil
		}
	}
	r.pictureFirst()
	x, err := buildIndex(r.src, &r.read, r.heap, r.disk())
	r.parts.Store(x)
	return err
}

// disk is where a large index is made: in a file that is kept for the next start or, where nothing
// is kept, in one that is gone when lime is.
func (r *Run) disk() *disk {
	if r.kept == nil {
		return &disk{dir: os.TempDir()}
	}
	return &disk{dir: r.kept.dir, keep: func(fill func(*os.File) error) (string, error) {
		if r.changed() != "" {
			return "", errors.New("the profile is another one now")
		}
		return r.kept.file(keptIndex), r.kept.write(keptIndex, fill)
	}}
}

// keptParts is how many parts make an index worth keeping: reading them takes a twentieth of a
// second.
const keptParts = 50_000

func (r *Run) instances() (n int64) {
	for id := range r.tables().Sections {
		n += int64(r.src.InstanceCount(profile.SectionID(id)))
	}
	return n
}

func analyse(src Source, o analysis.Options, heap *Heap) (*report.Report, *analysis.Result, error) {
	if percent, lean := analysis.LeanGC(src.Tables()); lean {
		defer heap.lean(percent)()
	}
	res, err := analysis.Run(src, o)
	if err != nil {
		return nil, nil, err
	}
	rep := report.Build(res, src.Tables())
	rep.Finite()
	return rep, res, nil
}

// caught turns a panic into an error: what one question trips over must not take the others with
// it.
func caught(what string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s failed: %v", what, p)
	}
}

// Tables returns the tables of profiles.
func Tables(runs []*Run) []*profile.Tables {
	out := make([]*profile.Tables, len(runs))
	for i, r := range runs {
		out[i] = r.tables()
	}
	return out
}

func (r *Run) tables() *profile.Tables { return r.src.Tables() }

// State is how far a profile has been read.
type State struct {
	Read     int64  `json:"read"`
	Of       int64  `json:"of"`
	Analysed bool   `json:"analysed"`
	Changed  string `json:"changed,omitempty"` // what became of the file
}

func (r *Run) state() *State {
	return &State{Read: r.read.Load(), Of: r.instances(), Analysed: r.ready.Load(), Changed: r.changed()}
}

// changed says what became of the file that was opened; "" if it is as it was.
func (r *Run) changed() string {
	if r.found == nil {
		return ""
	}
	now, err := os.Stat(r.path)
	switch {
	case err != nil:
		return r.name + " is gone; what was read of it is shown still."
	case !os.SameFile(now, r.found) || now.Size() != r.found.Size() || !now.ModTime().Equal(r.found.ModTime()):
		return r.name + " was written anew; this shows what it was. Start lime view again to see the new one."
	}
	return ""
}

// Info is what is known of a profile at once.
type Info struct {
	Name      string        `json:"name"`
	Command   []string      `json:"command"`
	Collector string        `json:"collector"`
	ClockUnit string        `json:"clock_unit"`
	RunTime   float64       `json:"run_time"`
	Threads   []string      `json:"threads"`
	Ranks     []int         `json:"ranks"` // by thread, -1 if unknown; empty but for runs of ranks
	Sections  []SectionInfo `json:"sections"`
	Kinds     []KindInfo    `json:"kinds"`
	Paths     []string      `json:"paths"` // metrics of call paths
	Counts    bool          `json:"counts"`
	Traces    bool          `json:"traces"` // what ran when is known
	Label     string        `json:"time_label"`
}

// SectionInfo names a section.
type SectionInfo struct {
	Kind      string `json:"kind"`
	Place     string `json:"place"`
	Instances int    `json:"instances"`
}

// KindInfo names a kind of event.
type KindInfo struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Unit  string `json:"unit"`
	Cost  bool   `json:"cost"`
}

func (r *Run) info() *Info {
	t, m := r.tables(), r.src.Meta()
	out := &Info{Name: r.name, Command: append([]string{}, m.Command...), Collector: m.Collector, ClockUnit: m.ClockUnit,
		RunTime: float64(m.RunTime), Label: m.TimeLabel.String(), Ranks: r.ranks,
		Threads: []string{}, Sections: []SectionInfo{}, Kinds: []KindInfo{}, Paths: r.paths.metrics(),
		Counts: len(t.Edges) > 0, Traces: len(t.Traces) > 0}
	for i := range t.Threads {
		out.Threads = append(out.Threads, t.Threads[i].Name)
	}
	for i := range t.Sections {
		s := &t.Sections[i]
		out.Sections = append(out.Sections,
			SectionInfo{string(s.Kind), placeName(t, s.Frames, s.EndAddr), r.src.InstanceCount(profile.SectionID(i))})
	}
	for i := range t.Kinds {
		if k := &t.Kinds[i]; !k.Auxiliary() {
			out.Kinds = append(out.Kinds, KindInfo{k.Name, k.Title, k.Unit, k.Unit == m.ClockUnit})
		}
	}
	return out
}

// placeName is a position as briefly as it can be found.
func placeName(t *profile.Tables, frames []profile.Frame, addr uint64) string {
	if len(frames) > 0 && frames[0].File >= 0 && frames[0].Line > 0 {
		return fmt.Sprintf("%s:%d", filepath.Base(t.Files[frames[0].File].Path), frames[0].Line)
	}
	if len(frames) > 0 && frames[0].Function != "" {
		return frames[0].Name()
	}
	if addr == 0 {
		return "the end of the program"
	}
	return unit.Addr(addr).String()
}

// nodeName names a block: its function and line.
func nodeName(t *profile.Tables, v profile.NodeID) string {
	if v < 0 || int(v) >= len(t.Nodes) {
		return "[unknown]"
	}
	n := &t.Nodes[v]
	place := placeName(t, n.Frames, n.LastAddr)
	if n.Function >= 0 && t.Functions[n.Function].Name != "" {
		return t.Functions[n.Function].Name + " at " + place
	}
	return place
}

func sectionID(s int) profile.SectionID { return profile.SectionID(s) }
