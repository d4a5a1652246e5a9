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
func (p *process) hookRunning() error {
	err := hook.Apart(func() error {
		t, err := hook.Seize(int(p.program.pid))
		if err != nil {
			return err
		}
		return errors.Join(p.hookSeized(t), t.Detach())
	})
	if gone := (*hook.GoneError)(nil); errors.As(err, &gone) && gone.TID == int(p.program.pid) {
		p.status = &gone.Status
	}
	return err
}

func (p *process) hookSeized(t *hook.Tracee) error {
	from := monotonic()
	defer func() { p.absences.standsStill(from, monotonic()) }()
	funcs := hooks(p.program.table)
	started, err := t.Started(funcs)
	if err == nil && !started {
		err = t.RunToEntry()
	}
	if err == nil && p.program.ring == nil {
		p.program.ring, err = hook.NewRing()
	}
	if err != nil {
		return err
	}
	in, err := hook.Install(t, p.program.ring, funcs)
	if err != nil {
		return err
	}
	if !started { // else threads may stand in them
		_ = p.program.images.load() // where that fails, there are none
		if err := in.Watch(t, p.program.ring, p.program.code.findCandidates(), len(funcs)); err != nil {
			in.Refused = append(in.Refused, err.Error())
		}
	}
	p.takeHooks(in)
	return nil
}

// takeHooks makes the hooks' code known to those who walk stacks.
func (p *process) takeHooks(in *hook.Installed) {
	p.program.hooks, p.program.code.turned = in, in.Turned
	if len(in.Refused) > 0 {
		p.shared.notes.Add("unhooked", "functions of the program that cannot be watched because of how they begin: "+strings.Join(in.Refused, ", "))
	}
	if in.Go {
		p.goroutines.beginGo(in.Goroutine, max(p.clocks.now, p.clocks.started))
	}
	p.program.sampler.walker.Stubs, p.program.sampler.walker.Moved = in.Frame, in.Origin
	p.program.sampler.stubs = func(pc uint64) bool { return pc >= in.Lo && pc < in.Hi }
}

// unhook leaves processes that go on without lime as they were.
func (r *run) unhook() (err error) {
	if r.main.program.prog != nil {
		return nil
	}
	for _, p := range r.all() {
		err = errors.Join(err, p.unhookProcess())
	}
	return err
}

func (p *process) unhookProcess() error {
	if p.program.hooks == nil || unix.Kill(int(p.program.pid), 0) != nil {
		return nil
	}
	return hook.Apart(func() error {
		t, err := hook.Seize(int(p.program.pid))
		if err != nil {
			return fmt.Errorf("take the hooks out of process %d: %w", p.program.pid, err)
		}
		return errors.Join(p.program.hooks.Remove(t), t.Detach())
	})
}

// hookAgain hooks the program by which the recorded one has replaced itself.
func (p *process) hookAgain() {
	clear(p.lives.handles)
	clear(p.regions.open)
	clear(p.conditions.waiters)
	clear(p.conditions.meetings)
	clear(p.conditions.byTurns)
	clear(p.locks.unlocks)
	clear(p.permits.semaphores)
	p.candidates.list = nil
	p.program.hooks, p.program.golang = nil, false
	p.goroutines.forget()
	if p.shared.o.NoHooks || p.program.prog != nil && p.program.prog.pidfd < 0 {
		p.shared.notes.Add("exec", "the program replaced itself by another one: of that, only samples are there")
		return
	}
	if err := p.hookRunning(); err != nil {
		p.shared.notes.Add("exec", fmt.Sprintf("the program replaced itself by another one: of that, only samples are there: %v", err))
		return
	}
	p.shared.unsayUnhooked()
}

// unsay takes a note back.
func (s *shared) unsay(name string) {
	maps.DeleteFunc(s.notes, func(k [2]string, _ uint64) bool { return k[0] == name })
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
