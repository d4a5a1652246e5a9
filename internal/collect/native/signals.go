package native

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/sender"
)

// Whoever starts a program by lime sends signals to lime and means the program. Those of a
// terminal's keys reach both, as they reach all processes in the foreground; what a process sent to
// lime, lime passes on. It stays until the program, which decides what a signal means, has ended.

// waitingSignals is room for those that come while the program is prepared.
const waitingSignals = 64

// Signals are those that are passed on, or end the recording of a process that ran already: all
// that end a process which does not expect them and that another one may want to send, the
// real-time ones included (signal(7)).
func Signals() []os.Signal {
	const first, last = 34, 64 // the thread library keeps two for itself
	out := []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGABRT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGTERM,
		unix.SIGSTKFLT, unix.SIGVTALRM, unix.SIGIO, unix.SIGPWR}
	for n := first; n <= last; n++ {
		out = append(out, unix.Signal(n))
	}
	return out
}

// Notify has Signals come through a channel.
func Notify(c chan<- os.Signal) { sender.Notify(c, Signals()...) }

// signals takes the signals that come while the program runs.
func (r *run) signals(interrupt func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case s := <-r.o.Signals:
				n, ok := s.(syscall.Signal)
				switch {
				case r.prog == nil: // the process goes on: only the recording ends
					interrupt()
				case ok && r.isForProgram(n):
					_ = r.prog.cmd.Process.Signal(n) // it may be gone
				case n == unix.SIGINT:
					r.interruptKey.Store(true)
				}
			}
		}
	}()
	return func() { close(done) }
}

// keyCame reports whether lime was sent the signal of the terminal's key, too. The kernel sends it
// to both at once, but here it comes through a queue, which the end of the program may overtake.
func (r *run) keyCame() bool {
	const looks, pause = 40, 5 * time.Millisecond // a fifth of a second: no queue is that slow, and few programs die of SIGINT alone
	for range looks {
		if r.interruptKey.Load() {
			return true
		}
		time.Sleep(pause)
	}
	return false
}

// isForProgram reports whether a signal is to be passed on: not if the kernel sent it, nor if the
// program did or one of its children, to whom lime is one of their group.
func (r *run) isForProgram(n syscall.Signal) bool {
	pid, sent := sender.Of(n)
	return sent && !descends(pid, int(r.pid))
}

// descends reports whether a process is another one, or a descendant of it as far as all in between
// are there.
func descends(pid, from int) bool {
	const most = 64
	for range most {
		switch pid {
		case from:
			return true
		case 0, 1:
			return false
		}
		pid = parentOf(pid)
	}
	return false
}

// parentOf is the process that a process was started by, 0 if it is gone.
func parentOf(pid int) int {
	f := statOf(pid)
	if len(f) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(f[1]) // 0 where it is no number
	return parent
}

// statOf is what the kernel tells of a process (proc(5), /proc/PID/stat) from its state on: the
// name before that may hold anything.
func statOf(pid int) []string {
	b, _ := os.ReadFile(procPath(pid, "stat"))
	s := string(b)
	return strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
}

// errInterrupted is what a signal leaves that came too early.
var errInterrupted = errors.New("interrupted before the program had begun")

// early takes a signal that came before there was anything to record. What the program made of it,
// if it was there already, is no error of lime's.
func early(signals <-chan os.Signal) (Result, error) {
	select {
	case s := <-signals:
		if n, ok := s.(syscall.Signal); ok {
			return Result{Status: 128 + int(n)}, errInterrupted
		}
	default:
	}
	return Result{}, nil
}
