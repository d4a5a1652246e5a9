package ranks

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"lime/internal/profile"
)

// Codes of the notes that a merged profile has.
const (
	NoteRanks      = profile.NoteRanks // of how many ranks it is made
	NoteMissing    = "rank-missing"    // ranks that left no profile
	NoteUnreadable = "rank-unreadable" // files that are no profiles, or damaged
	NoteForeign    = "rank-foreign"    // profiles of other runs, or of other programs
	NoteCut        = "rank-cut"        // ranks that did not come to their end
	NoteUnaligned  = "rank-clocks"     // meetings that some of their ranks did not come to
	NoteThinned    = "rank-traces"     // call paths of the time line that were dropped
	NoteUnmatched  = "rank-messages"   // messages of which one side is not in the profiles
)

// ErrNone is returned if no file is left to read.
var ErrNone = errors.New("no profile of a rank can be read")

// Merge reads the profiles of one run's ranks, in files of one rank or merged ones of several, and
// writes them as one. Messages are matched if no more files are to come: if all ranks are there, or
// the last ones say so.
func Merge(paths []string, last bool, sink profile.Sink) error {
	return mergeWithin(traceBudget, paths, last, sink)
}

// mergeWithin keeps so many bytes of traces.
func mergeWithin(budget int, paths []string, last bool, sink profile.Sink) error {
	m := &merger{whole: last, u: newUnion(), lines: map[int]*line{}, mains: map[int]profile.ThreadID{},
		meets: map[profile.Meeting]*meet{}, threads: map[int]map[profile.ThreadID]profile.ThreadID{}, traces: newTraces(budget)}
	m.choose(paths)
	for _, next := range ahead(m.chosen) {
		o := <-next
		if o.err == nil {
			o.err = m.read(o.path, o.r, m.first)
		}
		if o.err != nil {
			m.unreadable(o.path, o.err)
		}
	}
	if m.files == 0 {
		return fmt.Errorf("%w%s", ErrNone, m.notes.why())
	}
	m.align()
	groups := m.waits()
	m.u.t.PathSamples = m.moved(groups).apply(m.u.t.PathSamples)
	m.u.t.Traces = m.traces.common()
	m.u.write(sink)
	if err := m.write(sink, groups); err != nil {
		return err
	}
	return sink.UpdateMeta(m.description())
}

// merger is a merge under way.
type merger struct {
	u       *union
	chosen  []string
	meta    profile.Meta // of the first file
	files   int
	ranks   int
	cores   int
	hosts   map[string]bool
	lines   map[int]*line
	mains   map[int]profile.ThreadID // the ranks' first threads, which stand in the order of the ranks before all others
	order   []*line                  // in the order in which they were met
	meets   map[profile.Meeting]*meet
	list    []*meet
	whole   bool  // the messages are to be matched: of a part of the run the other sides may be missing
	mails   []end // the visits in which messages are sent or taken, in the order in which they were met
	pieces  pieces
	traces  traces
	stacks  stacks
	threads map[int]map[profile.ThreadID]profile.ThreadID // the union's, by file and its own
	again   []again                                       // files that hold instances of single ranks
	notes   notes
	core    uint64
	end     uint64
}

// again is a file that is to be read a second time, when the clocks are set.
type again struct {
	path string
	n    int
}

// file is a profile that is read.
type file struct {
	m      *merger
	n      int // number of the file
	r      *profile.Reader
	ids    *ids
	merged bool
	kept   map[profile.ThreadID]*held // of a file of one rank: what its threads did since their last meeting
	width  int
	ended  bool
	inner  bool // it holds instances that are the rank's own affair
	passed map[passage]uint64
	spent  map[passage]uint64
	met    map[profile.SectionID]bool
	ends   map[profile.ThreadID]joint // how threads came to their last message
}

// held is what a thread did between two meetings in sections of the rank's own.
type held struct {
	any    bool
	waited uint64
	within map[profile.SectionID]uint64 // time by the file's own section
	first  profile.Part                 // where it begins
	lead   []profile.EdgeID             // the way there from the rank's last message
	last   joint
	counts [4][]profile.Count
}

// passage is a thread's time in one of the rank's own sections, in the file's ids, on its way to a
// section that all ranks end, in the union's; None: all of it.
type passage struct {
	thread profile.ThreadID
	own    profile.SectionID
	to     profile.SectionID
}

// endCommunicator is that of the last meeting: the run ends when all ranks have come to their ends.
const endCommunicator = "end"

// opened is a profile whose tables are read.
type opened struct {
	path string
	r    *profile.Reader
	err  error
}

// ahead opens files while others are read, as many as there are processors: most of the time goes
// into their tables. They come in order.
func ahead(paths []string) []chan opened {
	out, room := make([]chan opened, len(paths)), make(chan bool, runtime.GOMAXPROCS(0))
	for i := range out {
		out[i] = make(chan opened)
	}
	go func() {
		for i, path := range paths {
			room <- true
			go func() {
				r, err := profile.Open(path)
				out[i] <- opened{path, r, err}
				<-room
			}()
		}
	}()
	return out
}

// read adds one file, an instance at a time.
func (m *merger) read(path string, r *profile.Reader, each func(*file, *profile.Instance) error) error {
	defer r.Close()
	f := &file{m: m, n: m.files, r: r, ids: m.u.add(r.Tables()), merged: isMerged(r.Meta()),
		kept: map[profile.ThreadID]*held{}, met: map[profile.SectionID]bool{},
		passed: map[passage]uint64{}, spent: map[passage]uint64{}, ends: map[profile.ThreadID]joint{}}
	m.threads[f.n] = map[profile.ThreadID]profile.ThreadID{}
	if err := r.Scan(func(in *profile.Instance) error { return each(f, in) }); err != nil {
		return err
	}
	m.account(f)
	if f.inner && (f.merged || f.width > 1) {
		f.own()
		m.again = append(m.again, again{path, f.n})
	}
	f.traced(f.ids.callPaths(f.thread, f.shares()))
	return nil
}

// isMerged tells a profile of several ranks from that of one.
func isMerged(m *profile.Meta) bool {
	return slices.ContainsFunc(m.Notes, func(n profile.Note) bool { return n.Code == NoteRanks })
}

// account adds what a file's description says.
func (m *merger) account(f *file) {
	meta := f.r.Meta()
	if m.files == 0 {
		m.meta = *meta
		m.meta.Notes = nil
	}
	m.files++
	m.core += meta.CoreTime
	m.notes.of(meta)
	if f.merged {
		m.cores += meta.Cores
		m.ranks += int(noteOf(meta, NoteRanks))
		return
	}
	m.cores += max(f.width, 1)
	m.ranks++
	if !meta.Complete || meta.EndState != "exited" {
		m.notes.cut(meta)
		m.meta.Complete, m.meta.EndState, m.meta.ExitStatus = m.meta.Complete && meta.Complete, meta.EndState, meta.ExitStatus
	}
}

func noteOf(m *profile.Meta, code string) uint64 {
	for _, n := range m.Notes {
		if n.Code == code {
			return n.N
		}
	}
	return 0
}

// line is that of the rank that a thread of the file belongs to.
func (f *file) line(t profile.ThreadID) *line {
	rank := f.r.Meta().Rank
	if f.merged {
		rank, _ = f.r.Tables().Threads[t].Rank()
	}
	l := f.m.lines[rank]
	if l == nil {
		l = &line{rank: rank, index: int32(len(f.m.order))}
		f.m.lines[rank] = l
		f.m.order = append(f.m.order, l)
	}
	return l
}

// thread gives a thread its row in the union, when it is needed first: those that MPI's libraries
// keep for themselves are not.
func (f *file) thread(id profile.ThreadID) profile.ThreadID {
	if id < 0 {
		return id
	}
	return known(f.m.threads[f.n], id, func() profile.ThreadID {
		row := f.r.Tables().Threads[id]
		if main, ok := f.m.mains[f.r.Meta().Rank]; ok && id == 0 && !f.merged {
			f.m.u.t.Threads[main].TID, f.m.u.t.Threads[main].Start, f.m.u.t.Threads[main].End = row.TID, row.Start, row.End
			return main
		}
		row.Parent = profile.None
		if !f.merged {
			row.Name = threadName(f.r.Meta().Rank, id, row.Name)
		}
		row.Entry = of(f.ids.functions, row.Entry, profile.None)
		return f.m.u.t.AddThread(row)
	})
}

// threadName names a thread of a rank, as profile.Thread's Rank reads it.
func threadName(rank int, id profile.ThreadID, name string) string {
	if id == 0 {
		return fmt.Sprintf("rank %d", rank)
	}
	return fmt.Sprintf("rank %d, thread %d (%s)", rank, id, name)
}

// first takes an instance while the file is read for the first time.
func (m *merger) first(f *file, in *profile.Instance) error {
	f.width = max(f.width, len(in.Parts))
	switch meeting := f.meeting(in); {
	case meeting == nil:
	case meeting.Mail() != nil:
		f.post(in, meeting, nil)
		return nil
	default:
		f.meet(in, meeting)
		return nil
	}
	f.inner = true
	for i := range in.Parts {
		f.thread(in.Parts[i].Thread)
	}
	f.hold(in)
	return nil
}

// meeting is what an instance has in common with those of other ranks; nil if it is the rank's own
// affair.
func (f *file) meeting(in *profile.Instance) *profile.Meeting {
	if in.Meeting != nil && in.Meeting.Communicator != "" {
		return in.Meeting
	}
	if !f.merged && f.r.Tables().Sections[in.Section].Kind == profile.SectionTail && len(in.Parts) == 1 &&
		in.Parts[0].Thread == 0 && !f.ended {
		f.ended = true
		return &profile.Meeting{Communicator: endCommunicator}
	}
	return nil
}
