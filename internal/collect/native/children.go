package native

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lime/internal/collect"
	"lime/internal/perf"
	"lime/internal/profile"
	"lime/internal/section"
	"lime/internal/unit"
)

// Processes that the program starts are sampled as the program itself: their call paths stand in
// the profile, by threads that are named after the process. Those that began a program of their own
// are watched (process.go); the others take part in no section.

// child is a process that the program started, or one of its children.
type child struct {
	pid     int32
	name    string
	sampler *sampler // nil: its code is not looked at
	own     bool     // it runs a program of its own, which it started at since
	since   uint64
	threads map[int32]*thread
	samples uint64
	nanos   uint64
	run     *process // it is watched since that began; nil: it is not
}

// mostPrograms is the number of programs of children whose code is looked at: reading one takes
// some 10 ms, and a shell may start thousands.
const mostPrograms = 16

// child is a process that one has started that runs a program, and runs that so far.
func (s *shared) child(pid int32, of *program) *child {
	c := s.children[pid]
	if c == nil {
		c = &child{pid: pid, name: of.name, sampler: of.sampler, threads: map[int32]*thread{}}
		s.children[pid] = c
	}
	return c
}

// childRecord takes a record of a process other than the program.
func (r *run) childRecord(rec *perf.Record) {
	c := r.child(rec.PID, r.main.program)
	if c.run != nil && rec.Time >= c.run.clocks.started {
		c.run.ownRecord(rec)
		return
	}
	switch rec.Type {
	case perf.TypeFork:
		if up := r.children[rec.Parent]; up != nil && rec.Parent != rec.PID {
			c.name, c.sampler, c.own = up.name, up.sampler, false
		}
	case perf.TypeComm:
		switch {
		case rec.Exec:
			r.childReplaced(c, rec)
		case rec.TID == rec.PID:
			c.name = rec.Name
		}
	case perf.TypeMmap2:
		if c.own && c.sampler != nil && c.sampler.images.mapped(rec.Name, rec.Addr, rec.Addr+rec.Len, rec.Offset) {
			c.sampler.walker.Forget()
		}
	case perf.TypeSample:
		if r.events.eventName(rec.Event) == "" {
			r.childSample(c, rec)
		}
	}
}

// childReplaced: a child runs another program from now on. What is mapped into it, the records of
// the kernel tell.
func (r *run) childReplaced(c *child, rec *perf.Record) {
	c.name, c.own, c.since, c.sampler = rec.Name, true, rec.Time, nil
	if c.run = r.watch(rec); c.run != nil {
		c.sampler, c.run.program.sampler.stacks = c.run.program.sampler, r.main.program.sampler.stacks
		return
	}
	if r.programs == mostPrograms {
		return
	}
	r.programs++
	m := newImages(int(c.pid))
	c.sampler = newSampler(m, newCode(m, r.o.Out), r.o.Out)
}

func (r *run) childSample(c *child, rec *perf.Record) {
	nanos := r.events.nanosOf(rec.Period)
	c.samples++
	c.nanos += nanos
	s := c.sampler
	if rec.Time < c.since {
		s = r.main.program.sampler
	}
	if s == nil {
		return
	}
	live := s.images.pid
	s.images.pid = int(c.pid) // whose stack it is
	w, spins, _ := s.take(rec)
	s.images.pid = live
	metric := "time"
	if spins {
		metric = "wait"
	}
	r.main.out.paths[pathKey{w.path, int32(r.childThread(c, rec).id), noSection, metric}] += float64(nanos)
}

// childThread is the row of a child's thread. The recogniser of sections knows nothing of it.
func (r *run) childThread(c *child, rec *perf.Record) *thread {
	t := c.threads[rec.TID]
	if t == nil {
		t = &thread{id: section.ThreadID(r.rows), tid: rec.TID, start: rec.Time,
			name: fmt.Sprintf("%s (process %d)", c.name, c.pid), foreign: true}
		c.threads[rec.TID] = t
		r.rows++
		r.main.roster.threads = append(r.main.roster.threads, t)
		r.main.out.thread(t)
	}
	t.end = max(t.end, rec.Time)
	return t
}

// endChildren closes what was opened for children, and writes their last words.
func (r *run) endChildren() {
	for _, t := range r.main.roster.threads {
		if t.foreign {
			r.main.out.threadEnd(t)
		}
	}
	closed := map[*images]bool{r.main.program.images: true}
	for _, c := range r.children {
		if c.sampler != nil && !closed[c.sampler.images] {
			closed[c.sampler.images] = true
			c.sampler.images.close()
		}
	}
}

// noteChildren says what is known of the program's children.
func (r *run) noteChildren(notes collect.Notes) {
	if len(r.children) == 0 {
		return
	}
	byName, watched := map[string]childSum{}, map[string]int{}
	var unread, processes uint64
	for _, pid := range slices.Sorted(maps.Keys(r.children)) {
		c := r.children[pid]
		if c.run != nil {
			watched[c.name]++
			continue
		}
		s := byName[c.name]
		processes++
		byName[c.name] = childSum{s.processes + 1, s.samples + c.samples, s.nanos + c.nanos}
		if c.sampler == nil {
			unread += c.samples
		}
	}
	names := slices.SortedFunc(maps.Keys(byName), func(a, b string) int {
		return cmp.Or(cmp.Compare(byName[b].nanos, byName[a].nanos), cmp.Compare(a, b))
	})
	noteWatched(notes, watched)
	if len(names) == 0 {
		return
	}
	const most = 4
	var words []string
	for _, name := range names[:min(len(names), most)] {
		s := byName[name]
		words = append(words, fmt.Sprintf("%d of %s with %v on a CPU", s.processes, name, unit.Nanos(s.nanos)))
	}
	if n := len(names) - most; n > 0 {
		words = append(words, fmt.Sprintf("%d other programs", n))
	}
	noteElsewhere(notes, r.sumWork(), slices.Collect(maps.Values(byName)))
	notes.Set("child-process", "processes that the program started take part in no section, what they call is "+
		"sampled: "+strings.Join(words, ", "), processes)
	if unread > 0 {
		notes.Set("child-programs", fmt.Sprintf("samples in child processes beyond the first %d programs, whose code "+
			"was not looked at", mostPrograms), unread)
	}
}

// childSum is what the children of one name come to.
type childSum struct{ processes, samples, nanos uint64 }

// sumWork is the time on a CPU of all that stands in sections.
func (r *run) sumWork() (work uint64) {
	for _, p := range r.all() {
		work += p.out.work
	}
	return work
}

// noteElsewhere says so if the children that take part in no section did most of the work.
func noteElsewhere(notes collect.Notes, own uint64, children []childSum) {
	var theirs, processes uint64
	for _, s := range children {
		theirs, processes = theirs+s.nanos, processes+s.processes
	}
	if theirs > own {
		notes.Set(profile.NoteElsewhere,
			fmt.Sprintf("most of the work was done by other processes, which the program started: %v on a CPU in %d "+
				"of them, %v in the program itself. "+
				"How evenly that was spread is not told here; to look into one of them, record its own command, or "+
				"use -p", unit.Nanos(theirs), processes, unit.Nanos(own)), 1)
	}
}

// noteWatched names the children whose synchronisation was watched.
func noteWatched(notes collect.Notes, watched map[string]int) {
	if len(watched) == 0 {
		return
	}
	var words []string
	all := 0
	for _, name := range slices.Sorted(maps.Keys(watched)) {
		words = append(words, fmt.Sprintf("%d of %s", watched[name], name))
		all += watched[name]
	}
	notes.Set("watched-process", "processes that the program started whose sections stand here beside its own: "+
		strings.Join(words, ", "), uint64(all))
}
