// The end of a recording: what is said of the run, in the profile and to whoever asked for it.

package native

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"lime/internal/profile"
)

// finish ends the recording and completes the profile.
func (r *run) finish(state *os.ProcessState, interrupted bool) (Result, error) {
	end := max(r.main.clocks.now, r.main.clocks.started)
	for _, p := range r.all() {
		p.endProcess()
	}
	r.endChildren()
	r.traces.Write(r.o.Out, r.notes)
	res := r.result(state, interrupted)
	res.Notes, res.RunTime, res.Never = r.report(end-r.main.clocks.started), end-r.main.clocks.started, r.main.stretch.never()
	m := metaAtEnd(r, &res, state)
	err := r.o.Out.UpdateMeta(m)
	for _, p := range r.all() {
		err = errors.Join(p.out.err, err)
	}
	return res, err
}

// metaAtEnd is what the profile says of the run that has ended.
func metaAtEnd(r *run, res *Result, state *os.ProcessState) profile.Meta {
	m := r.meta(res.EndState)
	r.measured(&m)
	m.ExitStatus, m.Complete, m.Notes = res.Status, true, res.Notes
	if ws, ok := r.exitStatus(state); ok && ws.Signaled() {
		m.ExitStatus = int(ws.Signal())
	}
	r.main.stretch.describe(&m)
	return m
}

func (r *run) result(state *os.ProcessState, interrupted bool) Result {
	res := Result{EndState: "exited", Samples: r.main.program.sampler.stacks.total, Stacks: r.main.program.sampler.stacks.share()}
	for _, p := range r.all() {
		res.Threads, res.Instances = res.Threads+p.roster.own(), res.Instances+p.out.instances
	}
	if interrupted {
		res.EndState, res.Status = "interrupted", 128+int(unix.SIGINT)
		if r.main.program.prog == nil { // that is how the recording of a process ends which goes on
			res.Status = 0
		}
	}
	if ws, ok := r.exitStatus(state); ok {
		res.Status = ws.ExitStatus()
		if ws.Signaled() {
			res.EndState, res.Status = "signalled", 128+int(ws.Signal())
			res.Interrupted = ws.Signal() == unix.SIGINT && r.relay.KeyCame()
		}
	}
	return res
}

// exitStatus is how the program ended, if it did.
func (r *run) exitStatus(state *os.ProcessState) (ws syscall.WaitStatus, ok bool) {
	if r.main.status != nil {
		return syscall.WaitStatus(*r.main.status), true
	}
	if state == nil {
		return 0, false
	}
	ws, ok = state.Sys().(syscall.WaitStatus)
	return ws, ok
}

// goesOn lets a program go on of which the stretch that was to be measured is over, and waits for its
// end: its status is to be passed on.
func goesOn(r *run, was Result, err error, done <-chan *os.ProcessState) (Result, error) {
	for _, p := range r.all() {
		_ = p.unhookProcess() // it may be gone
	}
	for _, s := range r.events.sessions() {
		_ = s.Disable()
	}
	state := <-done
	res := r.result(state, false)
	res.Notes, res.RunTime, res.Never = was.Notes, was.RunTime, was.Never
	return res, errors.Join(err, r.o.Out.UpdateMeta(metaAtEnd(r, &res, state)))
}
