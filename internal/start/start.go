// Package start is what lime found when it was started and Go's runtime has changed before main: the
// programs that lime starts are to find it as without lime (execve(2)).
//
// cmd/lime's entry, which runs before the runtime, keeps it in the variables below; it has no other
// place for it. A lime that was built without its Makefile has another entry, and knows none of it.
//
// It imports golang.org/x/sys/unix only.
package start

import (
	"os/signal"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Set by cmd/lime's entry. Bit n-1 of the first two is for signal n, bit n of closed for descriptor n,
// and files is the soft limit on open files. entered is 1 if they are known.
var ignored, blocked, closed, files, entered uint64

// Blocked are the signals that were blocked, bit n-1 for signal n; false if that is not known. Go's
// runtime unblocks some.
func Blocked() (set uint64, known bool) { return blocked, entered == 1 }

// Ignored are the signals that were ignored, bit n-1 for signal n. Go's runtime takes them over.
func Ignored() uint64 {
	all := ignored
	for _, n := range []unix.Signal{unix.SIGHUP, unix.SIGINT} { // which Go's runtime keeps; else entry may not have run
		if signal.Ignored(n) {
			all |= 1 << (n - 1)
		}
	}
	return all
}

// Closed are those of the descriptors 0 to 2 that were closed: Go's runtime opens /dev/null there.
func Closed() (fds []int) {
	for fd := range 3 {
		if closed>>fd&1 != 0 {
			fds = append(fds, fd)
		}
	}
	return fds
}

// OpenFiles is the soft limit on open files, which Go's library raises; false if it is not known.
func OpenFiles() (soft uint64, known bool) { return files, entered == 1 }

// KeepIgnored has lime ignore what it was started with ignored, and what it starts natively, too.
// Without SIGCHLD lime would not learn how children end, and Go's runtime needs others.
func KeepIgnored() {
	const firstRealTime, last unix.Signal = 34, 64 // the thread library keeps two for itself
	for _, n := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE,
		unix.SIGALRM, unix.SIGTERM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGXCPU, unix.SIGXFSZ, unix.SIGVTALRM,
		unix.SIGWINCH, unix.SIGIO, unix.SIGPWR} {
		keep(n)
	}
	for n := firstRealTime; n <= last; n++ {
		keep(n)
	}
}

func keep(n unix.Signal) {
	if ignored>>(n-1)&1 != 0 {
		signal.Ignore(n)
	}
}

// Subreaper reports whether this process is the one to which orphans among its descendants go. What
// it starts is none, unlike what takes its place.
func Subreaper() bool {
	var on int32
	_, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&on)), 0)
	return errno == 0 && on != 0
}
