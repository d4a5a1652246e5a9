package native

import (
	"errors"
	"fmt"

	"lime/internal/perf"
	"lime/internal/section"
)

// attach records a process that runs already: its threads are sampled, and hooks are put into it. Where that is not allowed, the
// run is one section.
func (r *run) attach() error {
	pid := r.o.PID
	r.pid = int32(pid)
	r.images = newImages(pid)
	if err := r.images.load(); err != nil {
		return err
	}
	r.code = newCode(r.images, r.o.Out)
	r.sampler = newSampler(r.images, r.code, r.o.Out)
	r.out = newOutput(r.o.Out, r.code)
	r.rec = section.New(r.out.instance)
	r.clock.tick()
	r.started = monotonic()
	r.name = threadName(pid, pid)
	r.startThread(r.pid, nil, r.started)
	for _, tid := range tasks(pid) {
		r.openPerf(perf.Options{PID: pid, TID: tid, Pages: attachPages})
		t := r.thread(int32(tid), r.started)
		t.name = threadName(pid, tid)
	}
	if len(r.session) == 0 {
		return fmt.Errorf("process %d: %w", pid, errNoEvents)
	}
	for _, s := range r.session {
		if err := s.Enable(); err != nil {
			return err
		}
	}
	if r.o.NoHooks {
		return nil
	}
	if err := r.hookRunning(); err != nil {
		r.notes.Add("no-hooks", fmt.Sprintf("sections are not seen, only the whole recording: %v", err))
	}
	return nil
}

var errNoEvents = errors.New("no perf events for its threads: see 'lime doctor'")

// attachPages is the size of the rings when every thread has its own.
const attachPages = 128
