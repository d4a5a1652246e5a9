package guest

import "golang.org/x/sys/unix"

// signalFile is a signal descriptor (signalfd(2)): in the host an eventfd, which
// can be read while a signal of the set is pending, so that poll and epoll see it.
type signalFile struct {
	set  sigset
	full bool
}

// sysSignalfd and sysSignalfd4 differ in the flags.
func sysSignalfd(c *call) int64 { return c.signalfd(0) }

func sysSignalfd4(c *call) int64 { return c.signalfd(c.a[3]) }

func (c *call) signalfd(flags uint64) int64 {
	v, ok := c.p.mem.load64(c.a[1])
	switch {
	case c.a[2] != 8 || flags&^(unix.SFD_CLOEXEC|unix.SFD_NONBLOCK) != 0:
		return errRes(unix.EINVAL)
	case !ok:
		return errRes(unix.EFAULT)
	}
	set, fd := sigset(v)&^unblockable, c.fd()
	if fd != -1 {
		f := c.p.files.signals[fd]
		if f == nil {
			return errRes(unix.EINVAL)
		}
		f.set = set
		c.p.showSignals()
		return int64(fd)
	}
	fd, err := unix.Eventfd(0, int(flags)) // the flags are O_CLOEXEC and O_NONBLOCK for both
	if err != nil {
		e, _ := errnoOf(err)
		return errRes(e)
	}
	c.p.files.signals[fd] = &signalFile{set: set}
	c.p.showSignals()
	return int64(fd)
}

// showSignals makes the signal descriptors readable, or not, as signals are pending.
func (p *Process) showSignals() {
	if len(p.files.signals) == 0 {
		return
	}
	pending := p.pending.set
	for _, t := range p.threads {
		pending |= t.pending.set
	}
	for fd, f := range p.files.signals {
		if full := pending&f.set != 0; full != f.full {
			f.full, p.shown = full, p.shown || full
			if full {
				_, _ = unix.Write(fd, []byte{1, 0, 0, 0, 0, 0, 0, 0})
			} else {
				drainEventfd(fd)
			}
		}
	}
}

// lookAtFiles wakes who waits for a signal descriptor that has just become readable.
func (p *Process) lookAtFiles() {
	if p.shown && len(p.hostWaiters) > 0 {
		p.PollHost(0)
	}
	p.shown = false
}

// readSignals reads as many signals as there are and fit.
func (c *call) readSignals(f *signalFile) int64 {
	const size = 128 // of struct signalfd_siginfo
	if c.a[2] < size {
		return errRes(unix.EINVAL)
	}
	n := int64(0)
	for ; uint64(n)+size <= c.a[2]; n += size {
		info, ok := c.p.dequeue(c.t, f.set)
		if !ok {
			break
		}
		b := info.forFile()
		if c.put(c.a[1]+uint64(n), b[:]) != 0 {
			return errRes(unix.EFAULT)
		}
	}
	c.p.showSignals()
	switch {
	case n > 0:
		return n
	case c.p.files.waits(c.fd()) && !ready(c.fd(), unix.POLLIN):
		c.waitFD(c.fd(), unix.POLLIN, 0, NoDeadline)
		return 0
	}
	return errRes(unix.EAGAIN) // as without blocking, or when it is another thread's
}

// forFile is the information as a signal descriptor gives it (struct signalfd_siginfo).
func (s *sigInfo) forFile() (b [128]byte) {
	move := func(to, from, n int) { copy(b[to:to+n], s[from:from+n]) }
	move(0, 0, 12) // number, error, code
	sig, code := unix.Signal(s.sig()), int32(le32(s[8:]))
	const timer = -2
	switch {
	case code == timer:
		move(24, 16, 4) // timer
		move(32, 20, 4) // overruns
		move(44, 24, 4) // value, as a number and as a pointer
		move(48, 24, 8)
	case code > 0 && sig == unix.SIGIO:
		move(28, 16, 4) // band
		move(20, 24, 4) // descriptor
	case code > 0 && syncSignals.has(int(sig)):
		move(72, 16, 8) // address
	case code > 0 && sig == unix.SIGCHLD:
		move(12, 16, 8) // process, user
		move(40, 24, 4) // status
		move(56, 32, 16)
	default:
		move(12, 16, 8)
		move(44, 24, 4)
		move(48, 24, 8)
	}
	return b
}
