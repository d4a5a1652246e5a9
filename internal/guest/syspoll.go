package guest

import (
	"encoding/binary"
	"runtime"

	"golang.org/x/sys/unix"

	"lime/internal/unit"
)

// setTempMask gives the thread another signal mask while it waits (ppoll,
// pselect, epoll_pwait, sigsuspend). The old one comes back with the call's end.
func (c *call) setTempMask(at, size uint64) unix.Errno {
	if c.prev != nil || at == 0 {
		return 0
	}
	if size != 8 {
		return unix.EINVAL
	}
	v, ok := c.p.mem.load64(at)
	if !ok {
		return unix.EFAULT
	}
	old := c.t.mask
	c.t.savedMask, c.t.mask = &old, sigset(v)&^unblockable
	return 0
}

// interruptible answers a wait that has not begun: signals that are pending under
// the temporary mask end it at once.
func (c *call) interrupted() bool { return c.p.deliverable(c.t) != 0 }

func sysPoll(c *call) int64 { return c.poll(c.afterMillis(int32(c.a[2]))) }

func sysPpoll(c *call) int64 {
	end, errno := c.deadline(c.a[2], false, unix.CLOCK_MONOTONIC)
	if errno == 0 {
		errno = c.setTempMask(c.a[3], c.a[4])
	}
	if errno != 0 {
		return errRes(errno)
	}
	return c.poll(end)
}

// poll looks at the descriptors and waits if none is ready.
func (c *call) poll(end unit.Nanos) int64 {
	n := c.a[1]
	if n > 1<<20 {
		return errRes(unix.EINVAL)
	}
	r, errno := hostCall(unix.SYS_POLL, c.a[0], n, 0)
	if errno != 0 || r != 0 || c.due(end) {
		return result(r, errno)
	}
	if c.interrupted() {
		return errRes(unix.EINTR)
	}
	b := make([]byte, 8*n)
	if !c.p.mem.read(c.a[0], b) {
		return errRes(unix.EFAULT)
	}
	return c.waitPoll(pollFDs(b), end)
}

// waitPoll blocks on any of several descriptors; with none it is a sleep.
func (c *call) waitPoll(fds []unix.PollFd, end unit.Nanos) int64 {
	b := &blocking{wait: Wait{Kind: WaitFD, FD: -1, Deadline: end}, onSignal: restartNoHnd, again: true}
	if len(fds) > 0 {
		b.fds, b.wait.FD = fds, int(fds[0].Fd)
	} else if end == NoDeadline {
		b.wait.Kind = WaitSignal
	} else {
		b.wait.Kind = WaitTime
	}
	return c.block(b)
}

func pollFDs(b []byte) []unix.PollFd {
	out := make([]unix.PollFd, 0, len(b)/8)
	for ; len(b) >= 8; b = b[8:] {
		out = append(out, unix.PollFd{Fd: int32(binary.LittleEndian.Uint32(b)), Events: int16(binary.LittleEndian.Uint16(b[4:]))})
	}
	return out
}

func sysSelect(c *call) int64 {
	end := NoDeadline
	if c.prev != nil {
		end = c.prev.wait.Deadline
	} else if c.a[4] != 0 {
		var b [16]byte
		if !c.p.mem.read(c.a[4], b[:]) {
			return errRes(unix.EFAULT)
		}
		sec, usec := int64(le64(b[:])), int64(le64(b[8:]))
		if sec < 0 || usec < 0 {
			return errRes(unix.EINVAL)
		}
		end = c.until(satNanos(sec+usec/1e6, usec%1e6*1e3), false, 0)
	}
	r := c.selectFDs(end)
	if c.a[4] != 0 && c.out.Kind == Continue {
		c.p.mem.write(c.a[4], timevalBytes(max(end-c.p.now, 0)))
	}
	return r
}

func sysPselect6(c *call) int64 {
	end, errno := c.deadline(c.a[4], false, unix.CLOCK_MONOTONIC)
	if errno == 0 && c.a[5] != 0 {
		set, ok1 := c.p.mem.load64(c.a[5])
		size, ok2 := c.p.mem.load64(c.a[5] + 8)
		if !ok1 || !ok2 {
			return errRes(unix.EFAULT)
		}
		errno = c.setTempMask(set, size)
	}
	if errno != 0 {
		return errRes(errno)
	}
	r := c.selectFDs(end)
	if c.a[4] != 0 && c.out.Kind == Continue {
		c.p.mem.write(c.a[4], timespecBytes(max(end-c.p.now, 0)))
	}
	return r
}

// selectFDs is select on copies of the sets; they are written back when it is over.
func (c *call) selectFDs(end unit.Nanos) int64 {
	n := int(int32(c.a[0]))
	if n < 0 || n > 1<<16 {
		return errRes(unix.EINVAL)
	}
	size := (n + 63) / 64 * 8
	var sets [3][]byte
	var at [3]uint64
	for i := range sets {
		if c.a[1+i] == 0 {
			continue
		}
		sets[i] = make([]byte, max(size, 8))
		if !c.p.mem.read(c.a[1+i], sets[i][:size]) {
			return errRes(unix.EFAULT)
		}
		at[i] = ptrOf(sets[i])
	}
	wanted := selectPoll(sets, n)
	var zero [16]byte
	r, errno := hostCall(unix.SYS_PSELECT6, uint64(n), at[0], at[1], at[2], ptrOf(zero[:]), 0)
	runtime.KeepAlive(&zero)
	if errno != 0 {
		return errRes(errno)
	}
	if r == 0 && !c.due(end) {
		if c.interrupted() {
			return errRes(unix.EINTR)
		}
		return c.waitPoll(wanted, end)
	}
	for i := range sets {
		if sets[i] != nil {
			c.p.mem.write(c.a[1+i], sets[i][:size])
		}
	}
	return int64(r)
}

// selectPoll says the same as three sets in poll's terms.
func selectPoll(sets [3][]byte, n int) (out []unix.PollFd) {
	events := [3]int16{unix.POLLIN | unix.POLLRDHUP, unix.POLLOUT, unix.POLLPRI}
	for fd := range n {
		var e int16
		for i, s := range sets {
			if s != nil && s[fd/8]>>(fd%8)&1 != 0 {
				e |= events[i]
			}
		}
		if e != 0 {
			out = append(out, unix.PollFd{Fd: int32(fd), Events: e &^ unix.POLLRDHUP})
		}
	}
	return out
}

func sysEpollWait(c *call) int64 { return c.epoll(c.afterMillis(int32(c.a[3]))) }

func sysEpollPwait(c *call) int64 {
	if errno := c.setTempMask(c.a[4], c.a[5]); errno != 0 {
		return errRes(errno)
	}
	return c.epoll(c.afterMillis(int32(c.a[3])))
}

func sysEpollPwait2(c *call) int64 {
	end, errno := c.deadline(c.a[3], false, unix.CLOCK_MONOTONIC)
	if errno == 0 {
		errno = c.setTempMask(c.a[4], c.a[5])
	}
	if errno != 0 {
		return errRes(errno)
	}
	return c.epoll(end)
}

func (c *call) epoll(end unit.Nanos) int64 {
	r, errno := hostCall(unix.SYS_EPOLL_WAIT, c.a[0], c.a[1], c.a[2], 0)
	if errno != 0 || r != 0 || c.due(end) {
		return result(r, errno)
	}
	if c.interrupted() {
		return errRes(unix.EINTR)
	}
	b := &blocking{wait: Wait{Kind: WaitFD, FD: c.fd(), Deadline: end}, onSignal: errRes(unix.EINTR),
		fds: []unix.PollFd{{Fd: int32(c.fd()), Events: unix.POLLIN}}}
	return c.block(b)
}

// Timer descriptors are eventfds that a simulated timer writes to: what is read
// is the number of expirations, as with the real ones.

func sysTimerfdCreate(c *call) int64 {
	const known = unix.TFD_CLOEXEC | unix.TFD_NONBLOCK
	if c.a[1]&^known != 0 {
		return errRes(unix.EINVAL)
	}
	fd, err := unix.Eventfd(0, int(c.a[1])) // EFD_ and TFD_ flags have the same values
	if err != nil {
		errno, _ := errnoOf(err)
		return errRes(errno)
	}
	tm := &intervalTimer{p: c.p, clock: int(int32(c.a[0]))}
	tm.fire = func(tm *intervalTimer) {
		var b [8]byte
		putLE64(b[:], 1+uint64(tm.missed))
		_, _ = unix.Write(fd, b[:])
		c.p.PollHost(0)
	}
	c.p.timerFDs[fd] = tm
	return int64(fd)
}

func sysTimerfdSettime(c *call) int64 {
	tm := c.p.timerFDs[c.fd()]
	if tm == nil {
		return errRes(unix.EINVAL)
	}
	period, e1 := c.timespec(c.a[2])
	first, e2 := c.timespec(c.a[2] + 16)
	if e1 != 0 || e2 != 0 {
		return errRes(max(e1, e2))
	}
	if c.a[3] != 0 && c.put(c.a[3], tm.valueBytes(timespecBytes)) != 0 {
		return errRes(unix.EFAULT)
	}
	drainEventfd(c.fd())
	tm.missed = 0
	if c.a[1]&unix.TFD_TIMER_ABSTIME != 0 && first != 0 {
		tm.arm(c.until(first, true, tm.clock), period)
		return 0
	}
	tm.start(c, first, period)
	return 0
}

// drainEventfd takes expirations back that nobody read.
func drainEventfd(fd int) {
	if ready(fd, unix.POLLIN) {
		var b [8]byte
		_, _ = unix.Read(fd, b[:])
	}
}

func sysTimerfdGettime(c *call) int64 {
	tm := c.p.timerFDs[c.fd()]
	if tm == nil {
		return errRes(unix.EINVAL)
	}
	return c.put(c.a[1], tm.valueBytes(timespecBytes))
}

func (p *Process) closeTimerFD(fd int) {
	if tm := p.timerFDs[fd]; tm != nil {
		tm.arm(NoDeadline, 0)
		delete(p.timerFDs, fd)
	}
}
