package native

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"lime/internal/collect/native/hook"
	"lime/internal/start"
)

// launched is a program that was started and let go.
type launched struct {
	cmd   *exec.Cmd
	hooks *hook.Installed
	ring  *hook.Ring
	why   error  // why there are no hooks
	pidfd int    // -1: the kernel has none
	traps bool   // it ignores SIGTRAP
	freed uint64 // when it was let go, ns
}

// launch starts the program under ptrace, prepares it while it stands at its entry, and lets it
// run. prepare is called when the program is stopped with its libraries mapped, candidates after
// it.
func launch(o *Options, prepare func(pid int) error, candidates func() []hook.Candidate) (*launched, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l := &launched{cmd: exec.Command(o.Command[0], o.Command[1:]...), pidfd: -1}
	l.cmd.Env, l.cmd.Stdin, l.cmd.Stdout, l.cmd.Stderr = o.Env, o.Stdin, o.Stdout, o.Stderr
	// Should lime be killed meanwhile: a program that is not wholly prepared must not run, nor stay
	// behind stopped, traced by whoever inherits it.
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	if err := checkRights(l.cmd); err != nil {
		return nil, err
	}
	if err := l.cmd.Start(); err != nil {
		return l.untraced(o, prepare, err)
	}
	pid := l.cmd.Process.Pid
	var ws unix.WaitStatus
	if _, err := unix.Wait4(pid, &ws, unix.WALL, nil); err != nil {
		return nil, fmt.Errorf("wait for %s: %w", o.Command[0], err)
	}
	t, err := hook.Attach(pid)
	if err != nil {
		return nil, l.abandon(err)
	}
	if err := wrongKind(o.Command[0], pid); err != nil {
		return nil, l.abandon(err)
	}
	if err := t.RunToEntry(); err != nil {
		return nil, l.abandon(err)
	}
	if err := prepare(pid); err != nil {
		return nil, l.abandon(err)
	}
	if !o.NoHooks {
		l.install(t, candidates)
	}
	if errors.Is(l.why, hook.ErrGone) { // a static program, before its main function
		return nil, l.abandon(l.why)
	}
	if err := t.Outlive(); err != nil {
		return nil, l.abandon(err)
	}
	if fd, err := unix.PidfdOpen(pid, 0); err == nil {
		l.pidfd = fd
	}
	l.traps = o.Waste != 0
	if err := asStarted(t, l.traps); err != nil {
		return nil, l.abandon(err)
	}
	l.freed = monotonic() // not later: lime may not get a core back at once, and the program runs
	return l, t.Detach()
}

// asStarted has the program find what lime was started with, as it would without lime (execve(2)):
// Go's runtime needs some signals, opens descriptors that are closed, and the program has these as
// the runtime left them. If traps are to come they are ignored, too: one that is under way when its
// tracer dies does no harm then.
func asStarted(t *hook.Tracee, traps bool) error {
	set := start.Ignored()
	if traps {
		set |= 1 << (unix.SIGTRAP - 1)
	}
	found := hook.Found{Closed: start.Closed(), Subreaper: start.Subreaper()}
	for n := syscall.Signal(1); set>>(n-1) != 0; n++ {
		if set>>(n-1)&1 != 0 {
			found.Ignored = append(found.Ignored, n)
		}
	}
	if blocked, known := start.Blocked(); known {
		if err := hook.Block(t, blocked); err != nil {
			return err
		}
	}
	return hook.Find(t, found)
}

// untraced starts the program without ptrace where that is forbidden.
func (l *launched) untraced(o *Options, prepare func(int) error, first error) (*launched, error) {
	if !errors.Is(first, unix.EPERM) && !errors.Is(first, unix.ENOSYS) {
		return nil, notStarted(o.Command[0], first)
	}
	cmd := exec.Command(o.Command[0], o.Command[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = o.Env, o.Stdin, o.Stdout, o.Stderr
	if err := cmd.Start(); err != nil {
		return nil, notStarted(o.Command[0], err)
	}
	l.freed = monotonic()
	l.cmd, l.why = cmd, fmt.Errorf("the program cannot be traced: %w", first)
	return l, prepare(cmd.Process.Pid)
}

// abandon ends a program that could not be prepared.
func (l *launched) abandon(err error) error {
	_ = l.cmd.Process.Kill() // it may be gone
	_ = l.cmd.Wait()
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s: lime must be allowed to read the program, and not only to execute it: %w", l.cmd.Path, err)
	}
	return err
}

func (l *launched) install(t *hook.Tracee, candidates func() []hook.Candidate) {
	ring, err := hook.NewRing()
	if err != nil {
		l.why = err
		return
	}
	funcs := hooks(watchedFunctions())
	in, err := hook.Install(t, ring, funcs)
	if err != nil {
		ring.Close()
		l.why = err
		return
	}
	if err := in.Watch(t, ring, candidates(), len(funcs)); err != nil {
		in.Refused = append(in.Refused, err.Error())
	}
	l.hooks, l.ring = in, ring
}

// failStatus is the exit status for a program that could not be started.
func failStatus(err error) int {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR), errors.Is(err, errNoName):
		return statusNotFound
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.ENOEXEC), errors.Is(err, errKind):
		return statusCannotRun
	}
	return statusFailed
}
