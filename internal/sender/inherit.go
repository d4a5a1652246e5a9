package sender

import (
	"os/signal"

	"golang.org/x/sys/unix"
)

// inherited are the signals that were ignored when lime started: bit n-1 for signal n. cmd/lime's
// entry sets them, before Go's runtime takes the signals over and forgets it.
var inherited uint64

// blocked are those that its first thread had blocked then, and entered is 1 if that is known: Go's
// runtime unblocks some.
var blocked, entered uint64

// Blocked are the signals that were blocked when lime started, bit n-1 for signal n; false if that is
// not known, in a lime that was built without its Makefile.
func Blocked() (set uint64, known bool) { return blocked, entered == 1 }

// Inherited are the signals that were ignored when lime started, bit n-1 for signal n. What a program
// is started with ignored it finds ignored (execve(2)).
func Inherited() uint64 {
	all := inherited
	for _, n := range []unix.Signal{unix.SIGHUP, unix.SIGINT} { // which Go's runtime keeps; else entry may not have run
		if signal.Ignored(n) {
			all |= 1 << (n - 1)
		}
	}
	return all
}

// KeepIgnored has lime ignore what it was started with ignored, and what it starts natively, too.
// Without SIGCHLD lime would not learn how children end, and Go's runtime needs others.
func KeepIgnored() {
	for _, n := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE,
		unix.SIGALRM, unix.SIGTERM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGXCPU, unix.SIGXFSZ, unix.SIGVTALRM,
		unix.SIGWINCH, unix.SIGIO, unix.SIGPWR} {
		if inherited>>(n-1)&1 != 0 {
			signal.Ignore(n)
		}
	}
	for n := firstRealTime; n <= most; n++ {
		if inherited>>(n-1)&1 != 0 {
			signal.Ignore(n)
		}
	}
}
