package native

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"lime/internal/perf"
)

// attach records a process that runs already: its threads are sampled, and hooks are put into it.
// Where that is not allowed, the run is one section.
func (r *run) attach() error {
	pid := r.o.PID
	r.main.program.pid = int32(pid)
	if err := checkProcess(pid); err != nil {
		return err
	}
	if err := r.main.look(); err != nil {
		return notAttached(pid, err)
	}
	r.o.Command = commandOf(pid)
	r.clock.tick()
	r.main.clocks.started = monotonic()
	r.main.stretch.asked(&r.o.Region)
	r.main.program.name = threadName(pid, pid)
	r.main.lives.startThread(r.main.program.pid, nil, r.main.clocks.started)
	for _, tid := range threadsOf(pid) {
		r.events.openPerf(perf.Options{PID: pid, TID: tid, Pages: attachPages})
		t := r.main.lives.thread(int32(tid), r.main.clocks.started)
		t.name = threadName(pid, tid)
	}
	if len(r.events.session) == 0 {
		return fmt.Errorf("process %d: %w", pid, errNoEvents)
	}
	if err := r.events.enable(); err != nil {
		return err
	}
	if r.o.NoHooks {
		return nil
	}
	if err := r.main.hookRunning(); err != nil {
		r.notes.Add("no-hooks", fmt.Sprintf("sections are not seen, only the whole recording: %v", err))
	}
	return nil
}

// notAttached says why a process cannot be looked at.
func notAttached(pid int, err error) error {
	out := &startError{name: fmt.Sprintf("process %d", pid), err: err}
	switch {
	case errors.Is(unix.Kill(pid, 0), unix.ESRCH):
		out.why, out.hint = "no such process", "it may have ended"
	case errors.Is(err, fs.ErrPermission):
		out.why, out.hint = "it may not be looked at", "record processes of your own, or with CAP_SYS_PTRACE and CAP_PERFMON"
	default:
		return fmt.Errorf("process %d: %w", pid, err)
	}
	return out
}

var errNoEvents = errors.New("no perf events for its threads: see 'lime doctor'")

// attachPages is the size of the rings when every thread has its own.
const attachPages = 128
