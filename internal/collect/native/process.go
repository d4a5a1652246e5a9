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
	"lime/internal/unit"
)

// Launchers (shells, time, mpirun) start the program that matters as a child. So a child that goes
// on as another program is hooked as the program itself is when it replaces itself, and has a run
// of its own: its sections, threads and times are its own, the profile and what the kernel tells
// are common.

// How many children are watched, at a time and in all: each takes a ring and the tables of its
// code, and stands still while it is hooked.
const (
	mostWatched = 16
	mostEver    = 64
)

// all are the program and the children that are watched.
func (r *run) all() []*run { return append([]*run{r}, r.watched...) }

// watch hooks a child that has just begun another program; nil if there is nothing to be hooked in
// it.
func (r *run) watch(rec *perf.Record) *run {
	pid := int(rec.PID)
	path, err := os.Readlink(procPath(pid, "exe"))
	if err != nil || r.o.NoHooks || r.plain[path] || r.alive() >= mostWatched || len(r.watched) >= mostEver {
		return nil
	}
	p := newProcess(r.shared)
	p.stretch.as(r.stretch)
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
func (r *run) endIfGone() {
	if len(r.roster.threads) > 0 && !r.over && !slices.ContainsFunc(r.roster.threads, func(t *thread) bool { return !t.ended }) {
		r.endProcess()
		r.closeRing()
	}
}

// endProcess ends the sections of a process, and writes what is summed up.
func (r *run) endProcess() {
	if r.over {
		return
	}
	r.over = true
	end := max(r.clocks.now, r.clocks.started)
	r.stretch.within(end)
	r.goroutines.endGo(end)
	for _, t := range r.roster.threads {
		if !t.foreign {
			r.lives.endThread(t, end)
		}
	}
	r.rec.Close(unit.Cycles(end))
	r.locks.table.write(r.out.sink, r.program.code, r.program.sampler.images.List, r.out.lockEvents)
	r.out.close()
}

// newRow adds a row for a thread of the profile.
func (r *run) newRow(t profile.Thread) int32 {
	r.rows++
	return int32(r.o.Out.AddThread(t))
}

func (r *run) closeRing() {
	if r.program.ring != nil {
		r.unread += r.program.ring.Lost()
		r.program.ring.Close()
		r.program.ring = nil
		r.stream.dropHooks()
	}
}

// lostCalls is how many calls found no room in the process's ring.
func (r *run) lostCalls() uint64 {
	if r.program.ring == nil {
		return r.unread
	}
	return r.unread + r.program.ring.Lost()
}

// measured fills in what is summed up over the processes.
func (r *run) measured(m *profile.Meta) {
	m.RunTime = 1
	for _, p := range r.all() {
		m.Cores, m.RunTime, m.CoreTime = max(m.Cores, p.out.widest), max(m.RunTime, p.out.end()), m.CoreTime+p.out.work
	}
}

// unsayUnhooked takes back what was said of programs that only started the one that matters.
func (r *run) unsayUnhooked() {
	r.unsay("no-hooks")
	r.unsay("exec")
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
func (r *run) look() error {
	r.program.images.pid = int(r.program.pid)
	return r.program.images.load()
}

// replaced forgets the images of a program that has replaced itself by another one.
func (r *run) replaced() {
	r.program.images.reset()
	r.program.code.reset()
	r.program.sampler.walker.Forget()
	r.program.sampler.walker.Stubs, r.program.sampler.walker.Moved, r.program.sampler.stubs = nil, nil, nil
	clear(r.places.sites)
}
