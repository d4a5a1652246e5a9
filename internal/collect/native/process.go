package native

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"lime/internal/collect/native/hook"
	"lime/internal/perf"
	"lime/internal/profile"
	"lime/internal/section"
	"lime/internal/unit"
)

// Launchers (shells, time, mpirun) start the program that matters as a child. So a child that goes
// on as another program is hooked as the program itself is when it replaces itself, and has a run
// of its own: its sections, threads and times are its own, the profile and what the kernel tells
// are common.

// process is what is recorded of one process, the program or a child that is hooked: the parts
// that it is made of, and what is still to be read.
type process struct {
	shared *shared

	program    *program
	roster     *roster
	clocks     *clocks
	places     *places
	out        *output
	rec        *section.Recogniser
	operations *operations
	absences   *absences
	episodes   *episodes
	tasks      *tasks
	locks      *locks
	conditions *conditions
	barriers   *barriers
	regions    *regions
	mpiCalls   *mpiCalls
	permits    *permits
	candidates *candidates
	goroutines *goroutines
	lives      *lives
	sampling   *sampling
	stretch    *stretch // of the run that is measured
	dispatcher *dispatcher

	stream stream
	stamps []stamp          // of hooks, as they are read
	looked int              // the thread that was looked at last
	status *unix.WaitStatus // it ended while it was hooked again
	over   bool             // it has ended, and stands in the profile
	unread uint64           // calls that found no room in rings that are closed
}

// How many children are watched, at a time and in all: each takes a ring and the tables of its
// code, and stands still while it is hooked.
const (
	mostWatched = 16
	mostEver    = 64
)

// all are the program and the children that are watched.
func (r *run) all() []*process { return append([]*process{r.main}, r.watched...) }

// watch hooks a child that has just begun another program; nil if there is nothing to be hooked in
// it.
func (r *run) watch(rec *perf.Record) *process {
	pid := int(rec.PID)
	path, err := os.Readlink(procPath(pid, "exe"))
	if err != nil || r.o.NoHooks || r.plain[path] || r.alive() >= mostWatched || len(r.watched) >= mostEver {
		return nil
	}
	p := newProcess(r.shared)
	p.stretch.as(r.main.stretch)
	p.program.pid, p.program.name, p.clocks.started = rec.PID, rec.Name, rec.Time
	if p.look() != nil { // it is gone
		return nil
	}
	if err := p.hookRunning(); err != nil {
		p.closeRing()
		p.program.images.close()
		switch {
		case errors.Is(err, hook.ErrStatic):
			r.plain[path] = true
		case unix.Kill(pid, 0) == nil:
			r.notes.Add("unwatched", fmt.Sprintf("a process that the program started takes part in no section: %v", err))
		}
		return nil
	}
	_ = p.program.images.load() // what the loader has mapped meanwhile; if that fails, the addresses are looked up later
	p.stream.add(item{at: rec.Time, typ: perf.TypeFork, tid: rec.PID})
	r.watched = append(r.watched, p)
	r.unsayUnhooked()
	return p
}

// alive counts the watched children that have not ended.
func (r *run) alive() (n int) {
	for _, p := range r.watched {
		if !p.over {
			n++
		}
	}
	return n
}

// lines are the ends of the processes' time lines. Their instances stand one after the other,
// whether they ran side by side or not: what one process loses, another one does not.
type lines map[*output]uint64

// others is the latest end but that of o.
func (l lines) others(o *output) (last uint64) {
	for p, end := range l {
		if p != o {
			last = max(last, end)
		}
	}
	return last
}

// endIfGone completes a child whose last thread has ended.
func (p *process) endIfGone() {
	if len(p.roster.threads) > 0 && !p.over && !slices.ContainsFunc(p.roster.threads, func(t *thread) bool { return !t.ended }) {
		p.endProcess()
		p.closeRing()
	}
}

// endProcess ends the sections of a process, and writes what is summed up.
func (p *process) endProcess() {
	if p.over {
		return
	}
	p.over = true
	end := max(p.clocks.now, p.clocks.started)
	p.stretch.within(end)
	p.goroutines.endGo(end)
	for _, t := range p.roster.threads {
		if !t.foreign {
			p.lives.endThread(t, end)
		}
	}
	p.rec.Close(unit.Cycles(end))
	p.locks.table.write(p.out.sink, p.program.code, p.program.sampler.images.List, p.out.lockEvents)
	p.out.close()
}

// newRow adds a row for a thread of the profile.
func (s *shared) newRow(t profile.Thread) int32 {
	s.rows++
	return int32(s.o.Out.AddThread(t))
}

func (p *process) closeRing() {
	if p.program.ring != nil {
		p.unread += p.program.ring.Lost()
		p.program.ring.Close()
		p.program.ring = nil
		p.stream.dropHooks()
	}
}

// lostCalls is how many calls found no room in the process's ring.
func (p *process) lostCalls() uint64 {
	if p.program.ring == nil {
		return p.unread
	}
	return p.unread + p.program.ring.Lost()
}

// measured fills in what is summed up over the processes.
func (r *run) measured(m *profile.Meta) {
	m.RunTime = 1
	for _, p := range r.all() {
		m.Cores, m.RunTime, m.CoreTime = max(m.Cores, p.out.widest), max(m.RunTime, p.out.end()), m.CoreTime+p.out.work
	}
}

// unsayUnhooked takes back what was said of programs that only started the one that matters.
func (s *shared) unsayUnhooked() {
	s.unsay("no-hooks")
	s.unsay("exec")
}

// tellAliens tells of a new thread those processes that it does not belong to.
func (r *run) tellAliens(rec *perf.Record) {
	for _, p := range r.all() {
		if p.program.pid != rec.PID && !p.over {
			p.stream.add(item{at: rec.Time, typ: rec.Type, tid: rec.TID, alien: true})
		}
	}
}

// distinct adds each kind of event once, whichever process asks.
type distinct struct {
	profile.Sink
	kinds map[string]int32
}

// AddKind returns the row that the kind has, or adds one.
func (d *distinct) AddKind(k profile.EventKind) int32 {
	id, ok := d.kinds[k.Name]
	if !ok {
		id = d.Sink.AddKind(k)
		d.kinds[k.Name] = id
	}
	return id
}

// look reads what is mapped into the process.
func (p *process) look() error {
	p.program.images.pid = int(p.program.pid)
	return p.program.images.load()
}

// replaced forgets the images of a program that has replaced itself by another one.
func (p *process) replaced() {
	p.program.images.reset()
	p.program.code.reset()
	p.program.sampler.walker.Forget()
	p.program.sampler.walker.Stubs, p.program.sampler.walker.Moved, p.program.sampler.stubs = nil, nil, nil
	clear(p.places.sites)
}
