package native

import (
	"errors"
	"os"
	"syscall"

	"lime/internal/sender"
)

// Whoever starts a program by lime sends signals to lime and means the program. Those of a
// terminal's keys reach both, as they reach all processes in the foreground; what a process sent to
// lime, lime passes on. It stays until the program, which decides what a signal means, has ended.

// Notify has all that are passed on, or end the recording of a process that ran already, come
// through a channel.
func Notify(c chan<- os.Signal) { sender.Notify(c, sender.Signals()...) }

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
				case r.main.program.prog == nil: // the process goes on: only the recording ends
					interrupt()
				case ok && r.relay.Passes(n, int(r.main.program.pid)):
					_ = r.main.program.prog.cmd.Process.Signal(n) // it may be gone
				}
			}
		}
	}()
	return func() { close(done) }
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
