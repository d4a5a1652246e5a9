package guest

import (
	"fmt"

	"golang.org/x/sys/unix"

	"lime/internal/unit"
)

// call is one system call being handled.
type call struct {
	p    *Process
	t    *Thread
	row  *sysRow
	nr   uint64
	a    [6]uint64
	prev *blocking // the wait that has just ended, when the call is done again
	out  Outcome
	keep bool // the handler has set the registers itself
}

// errRes is a system call's result for an error.
func errRes(e unix.Errno) int64 { return -int64(e) }

// result is a system call's result for a host call's.
func result(r uint64, e unix.Errno) int64 {
	if e != 0 {
		return errRes(e)
	}
	return int64(r)
}

// keepRegisters says that the result is in the registers already.
func (c *call) keepRegisters() int64 {
	c.keep, c.t.inCall = true, false
	return 0
}

// doCall runs a call's handler and settles its end.
func (p *Process) doCall(t *Thread, nr uint64, prev *blocking) Outcome {
	g := &t.Ctx.GPR
	c := &call{p: p, t: t, nr: nr, prev: prev, a: [6]uint64{g[rdi], g[rsi], g[rdx], g[r10], g[r8], g[r9]}}
	c.row = rowOf(nr)
	if c.row != nil {
		c.out.Takes = c.row.takes
	}
	r := p.runRow(c)
	if c.out.Kind != Continue && c.out.Kind != Yield {
		return c.out
	}
	if !c.keep {
		g[rax] = uint64(r)
	}
	return p.deliver(t, c.out)
}

// runRow does what the table says.
func (p *Process) runRow(c *call) int64 {
	switch {
	case c.row == nil:
		p.note("unsupported-syscall", fmt.Sprintf("system call %d is not known; the program was told ENOSYS", c.nr))
		return errRes(unix.ENOSYS)
	case c.row.kind == refused:
		if !c.row.quiet {
			p.note("unsupported-syscall", fmt.Sprintf("system call %s is not supported; the program was told ENOSYS", c.row.name))
		}
		return errRes(unix.ENOSYS)
	}
	r := c.row.do(c)
	if c.row.touchesFiles && len(p.hostWaiters) > 0 {
		p.PollHost(0)
	}
	p.lookAtFiles()
	return r
}

// pass hands the call to the host as it is.
func pass(c *call) int64 {
	var r uint64
	var errno unix.Errno
	do := func() { r, errno = hostCall(uintptr(c.nr), c.a[:]...) }
	if c.row.fd { // it may take long, and uses no memory of lime's
		c.p.outside(do)
	} else {
		do()
	}
	if errno == unix.EFAULT && c.p.thawCode() {
		r, errno = hostCall(uintptr(c.nr), c.a[:]...)
	}
	return result(r, errno)
}

// thawCode makes the engine give up its write protection of code on writable
// pages, into which the host is to write.
func (p *Process) thawCode() (any bool) {
	for _, m := range p.mem.maps.rows {
		if m.prot&unix.PROT_WRITE != 0 && m.holdsCode() {
			p.host.Invalidate(m.lo, m.hi)
			any = true
		}
	}
	return any
}

// zero answers success and does nothing.
func zero(*call) int64 { return 0 }

// timespec reads a struct timespec.
func (c *call) timespec(a uint64) (unit.Nanos, unix.Errno) {
	var b [16]byte
	if !c.p.mem.read(a, b[:]) {
		return 0, unix.EFAULT
	}
	sec, nsec := int64(le64(b[:])), int64(le64(b[8:]))
	if sec < 0 || nsec < 0 || nsec >= 1e9 {
		return 0, unix.EINVAL
	}
	return satNanos(sec, nsec), 0
}

// satNanos is seconds and nanoseconds, at most the largest time.
func satNanos(sec, nsec int64) unit.Nanos {
	if sec > 9_000_000_000 {
		return NoDeadline
	}
	return unit.Nanos(sec*1e9 + nsec)
}

// deadline turns a pointer to a timespec into a point of simulated time. A call
// that is done again keeps the deadline that it had.
func (c *call) deadline(a uint64, absolute bool, clock int) (unit.Nanos, unix.Errno) {
	if c.prev != nil {
		return c.prev.wait.Deadline, 0
	}
	if a == 0 {
		return NoDeadline, 0
	}
	d, errno := c.timespec(a)
	if errno != 0 {
		return 0, errno
	}
	return c.until(d, absolute, clock), 0
}

// until is the simulated time at which a clock shows d, or in d's time.
func (c *call) until(d unit.Nanos, absolute bool, clock int) unit.Nanos {
	if d == NoDeadline {
		return NoDeadline
	}
	if absolute {
		return max(d-c.p.clockBase(clock), 1)
	}
	if c.p.now > NoDeadline-d {
		return NoDeadline
	}
	return max(c.p.now+d, 1)
}

// afterMillis is the deadline of a timeout in milliseconds, negative for none.
func (c *call) afterMillis(ms int32) unit.Nanos {
	switch {
	case c.prev != nil:
		return c.prev.wait.Deadline
	case ms < 0:
		return NoDeadline
	}
	return c.p.now + unit.Nanos(ms)*1e6
}

// due says that a deadline has passed.
func (c *call) due(end unit.Nanos) bool {
	return end <= c.p.now || c.prev != nil && c.prev.cause == causeTimeout
}

// put writes bytes to guest memory, as a handler's last act.
func (c *call) put(a uint64, b []byte) int64 {
	if !c.p.mem.write(a, b) {
		return errRes(unix.EFAULT)
	}
	return 0
}
