package sender

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Signals are those that whoever starts a program by another one means for the program: all that end
// a process which does not expect them and that another one may want to send, the real-time ones
// included (signal(7)).
func Signals() []os.Signal {
	out := []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGABRT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGTERM,
		unix.SIGSTKFLT, unix.SIGVTALRM, unix.SIGIO, unix.SIGPWR}
	for n := firstRealTime; n <= most; n++ {
		out = append(out, n)
	}
	return out
}

// firstRealTime is that of those that the thread library does not keep for itself.
const firstRealTime unix.Signal = 34

// Waiting is room for signals that come at once, or while a program is prepared.
const Waiting = 64

// Relay tells what of Signals is to be passed on to a program. Those of a terminal's keys reach it
// anyhow, as they reach all processes in the foreground; what a process sent is passed on.
type Relay struct {
	key atomic.Bool // that of the key for SIGINT came
}

// Passes reports whether a signal that has come is to be passed on to a process: not if the kernel
// sent it, nor if the process did or one of its children, to whom we are one of their group. A timer
// that ran when we were started (alarm(2), then execve(2)) is the program's.
func (r *Relay) Passes(n syscall.Signal, to int) bool {
	pid, sent := Of(n)
	if !sent && n == unix.SIGINT {
		r.key.Store(true)
	}
	return sent && !descends(pid, to) || !sent && n == unix.SIGALRM
}

// KeyCame reports whether we were sent the signal of the terminal's key, too, now that it has ended
// the program. The kernel sends it to both at once, but here it comes through a queue, which the end
// of the program may overtake.
func (r *Relay) KeyCame() bool {
	const looks, pause = 40, 5 * time.Millisecond // a fifth of a second: no queue is that slow, and few programs die of SIGINT alone
	for range looks {
		if r.key.Load() {
			return true
		}
		time.Sleep(pause)
	}
	return false
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
	f := Stat(pid)
	if len(f) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(f[1]) // 0 where it is no number
	return parent
}

// Stat is what the kernel tells of a process (proc(5), /proc/PID/stat) from its state on: the name
// before that may hold anything.
func Stat(pid int) []string {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	s := string(b)
	return strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
}
