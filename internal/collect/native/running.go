package native

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"golang.org/x/sys/unix"

	"lime/internal/collect/native/hook"
)

// hookRunning hooks a process that runs already: it stops for that, a millisecond or so.
func (r *run) hookRunning() error {
	err := hook.Apart(func() error {
		t, err := hook.Seize(int(r.program.pid))
		if err != nil {
			return err
		}
		return errors.Join(r.hookSeized(t), t.Detach())
	})
	if gone := (*hook.GoneError)(nil); errors.As(err, &gone) && gone.TID == int(r.program.pid) {
		r.status = &gone.Status
	}
	return err
}

func (r *run) hookSeized(t *hook.Tracee) error {
	from := monotonic()
	defer func() { r.absences.standsStill(from, monotonic()) }()
	funcs := hooks(r.program.table)
	started, err := t.Started(funcs)
	if err == nil && !started {
		err = t.RunToEntry()
	}
	if err == nil && r.program.ring == nil {
		r.program.ring, err = hook.NewRing()
	}
	if err != nil {
		return err
	}
	in, err := hook.Install(t, r.program.ring, funcs)
	if err != nil {
		return err
	}
	if !started { // else threads may stand in them
		_ = r.program.images.load() // where that fails, there are none
		if err := in.Watch(t, r.program.ring, r.program.code.findGates(), len(funcs)); err != nil {
			in.Refused = append(in.Refused, err.Error())
		}
	}
	r.takeHooks(in)
	return nil
}

// takeHooks makes the hooks' code known to those who walk stacks.
func (r *run) takeHooks(in *hook.Installed) {
	r.program.hooks, r.program.code.turned = in, in.Turned
	if len(in.Refused) > 0 {
		r.notes.Add("unhooked", "functions of the program that cannot be watched because of how they begin: "+strings.Join(in.Refused, ", "))
	}
	if in.Go {
		r.goroutines.beginGo(in.Goroutine, max(r.clocks.now, r.clocks.started))
	}
	r.program.sampler.walker.Stubs, r.program.sampler.walker.Moved = in.Frame, in.Origin
	r.program.sampler.stubs = func(pc uint64) bool { return pc >= in.Lo && pc < in.Hi }
}

// unhook leaves processes that go on without lime as they were.
func (r *run) unhook() (err error) {
	if r.program.prog != nil {
		return nil
	}
	for _, p := range r.all() {
		err = errors.Join(err, p.unhookProcess())
	}
	return err
}

func (r *run) unhookProcess() error {
	if r.program.hooks == nil || unix.Kill(int(r.program.pid), 0) != nil {
		return nil
	}
	return hook.Apart(func() error {
		t, err := hook.Seize(int(r.program.pid))
		if err != nil {
			return fmt.Errorf("take the hooks out of process %d: %w", r.program.pid, err)
		}
		return errors.Join(r.program.hooks.Remove(t), t.Detach())
	})
}

// hookAgain hooks the program by which the recorded one has replaced itself.
func (r *run) hookAgain() {
	clear(r.lives.handles)
	clear(r.regions.open)
	clear(r.conditions.waiters)
	clear(r.conditions.meetings)
	clear(r.locks.unlocks)
	r.candidates.gates = nil
	r.program.hooks, r.program.golang = nil, false
	r.goroutines.forget()
	if r.o.NoHooks || r.program.prog != nil && r.program.prog.pidfd < 0 {
		r.notes.Add("exec", "the program replaced itself by another one: of that, only samples are there")
		return
	}
	if err := r.hookRunning(); err != nil {
		r.notes.Add("exec", fmt.Sprintf("the program replaced itself by another one: of that, only samples are there: %v", err))
		return
	}
	r.unsayUnhooked()
}

// unsay takes a note back.
func (r *run) unsay(name string) {
	maps.DeleteFunc(r.notes, func(k [2]string, _ uint64) bool { return k[0] == name })
}

// awaitEnd waits until the program is gone, and takes no notice of its stops under ptrace, as
// wait4(2) would.
func (l *launched) awaitEnd() {
	if l.pidfd < 0 {
		return
	}
	set := []unix.PollFd{{Fd: int32(l.pidfd), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(set, -1); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	unix.Close(l.pidfd)
}
