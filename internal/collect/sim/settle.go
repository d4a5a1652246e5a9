// Where a lime that was built without its Makefile has room for the program.

package sim

import (
	"runtime"

	"golang.org/x/sys/unix"

	"lime/internal/guest"
)

// noRandomisation is ADDR_NO_RANDOMIZE of personality(2).
const noRandomisation = 0x0040000

// settle starts this process over without random addresses, if something of it lies at a random
// place among those of the program: a plain `go build` with cgo brings a C library, whose heap
// does. The start after that undoes it, so that the program's children are as ever. Where that is
// forbidden the program runs none the less, at other addresses each time.
func (c *Config) settle() {
	runtime.LockOSThread() // a personality is a thread's
	switch {
	case c.Settled:
		randomise(true)
	case guest.Crowded():
		c.Settled = true
		_ = replace(*c, &guest.ExecRequest{Path: c.Cmd, Args: c.Args, Env: c.Env})
		c.Settled = false
	}
}

// randomise says whether the process that this thread begins next has random addresses.
func randomise(on bool) {
	const ask = 0xffffffff
	now, _, errno := unix.Syscall(unix.SYS_PERSONALITY, ask, 0, 0)
	if errno != 0 {
		return
	}
	to := now | noRandomisation
	if on {
		to = now &^ noRandomisation
	}
	_, _, _ = unix.Syscall(unix.SYS_PERSONALITY, to, 0, 0) // where it is forbidden addresses vary
}
