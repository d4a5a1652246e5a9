// Package sender tells, of a signal that has come, whether a process sent it, and which. The others
// the kernel sends: those that a terminal's keys stand for, or its end, go to all processes in the
// foreground, so that whoever started one of these need not pass them on.
//
// The library os/signal keeps nothing but the number of a signal. So its handler is called by way
// of one that remembers the rest, which has no other place for it than variables of the package.
//
// It imports golang.org/x/sys/unix only.
package sender

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// most is the highest number of a signal.
const most = 64

// last is, by signal, who sent it last since Of was asked: sent and the process's number. next is
// the handler that comes after. Both are the handler's, handler_amd64.s.
var (
	last [most + 1]uint64
	next uintptr
)

const sent = 1 << 32

// handler is no function that Go could call.
func handler()

// entry is the handler's address.
func entry() uintptr

// action is the kernel's struct sigaction.
type action struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

// Notify is signal.Notify, and has Of know who sent the signals. Those that are ignored stay so,
// for what lime starts, too (nohup(1)).
func Notify(c chan<- os.Signal, signals ...os.Signal) {
	for _, s := range signals {
		n, ok := s.(syscall.Signal)
		if !ok || signal.Ignored(s) {
			continue
		}
		signal.Notify(c, s)
		var a action
		if act(n, nil, &a) != nil || a.handler == entry() || a.handler <= 1 { // SIG_DFL, SIG_IGN
			continue
		}
		next = a.handler // the same for all signals
		a.handler = entry()
		_ = act(n, &a, nil) // Of takes the signal to be sent then
	}
}

func act(n syscall.Signal, now, old *action) error {
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(n), uintptr(unsafe.Pointer(now)),
		uintptr(unsafe.Pointer(old)), unsafe.Sizeof(old.mask), 0, 0); e != 0 {
		return e
	}
	return nil
}

// Of reports whether a signal that has come was sent by a process, and by which: 0 if that is not
// known. Each arrival is told of once.
func Of(n syscall.Signal) (pid int, ok bool) {
	var a action
	if n < 1 || n > most || act(n, nil, &a) != nil || a.handler != entry() {
		return 0, true
	}
	v := atomic.SwapUint64(&last[n], 0)
	return int(int32(v)), v&sent != 0
}
