package guest

import (
	"runtime"

	"golang.org/x/sys/unix"

	"lime/internal/unit"
)

// streamChunk is how much a pipe takes at once when poll says that it is writable.
const streamChunk = pageSize

func (c *call) fd() int { return int(int32(c.a[0])) }

// passFD hands a call on a descriptor to the host when it will not wait.
func (c *call) passFD(events int16) int64 {
	if c.p.files.waits(c.fd()) && !ready(c.fd(), events) && !c.waitFD(c.fd(), events, 0, NoDeadline) {
		return 0
	}
	return pass(c)
}

func sysRead(c *call) int64 {
	if c.p.files.kind(c.fd()) == kindRandom {
		return c.readRandom(c.a[1], c.a[2])
	}
	if f := c.p.files.signals[c.fd()]; f != nil {
		return c.readSignals(f)
	}
	return c.passFD(unix.POLLIN)
}

// readRandom answers from the fixed generator.
func (c *call) readRandom(at, n uint64) int64 {
	b := make([]byte, min(n, 1<<20))
	c.p.fillRandom(b)
	if r := c.put(at, b); r != 0 {
		return r
	}
	return int64(len(b))
}

func sysReadv(c *call) int64 {
	if c.p.files.kind(c.fd()) != kindRandom {
		return c.passFD(unix.POLLIN)
	}
	total := int64(0)
	for i := uint64(0); i < min(c.a[2], 1024); i++ {
		at, _ := c.p.mem.load64(c.a[1] + 16*i)
		n, ok := c.p.mem.load64(c.a[1] + 16*i + 8)
		r := c.readRandom(at, n)
		if !ok || r < 0 {
			return errRes(unix.EFAULT)
		}
		total += r
	}
	return total
}

func sysGetrandom(c *call) int64 { return c.readRandom(c.a[0], c.a[1]) }

// broken sends SIGPIPE where the host answered EPIPE.
func (c *call) broken(r int64) int64 {
	if r == errRes(unix.EPIPE) {
		c.p.send(c.t, infoFrom(int(unix.SIGPIPE), siUser, c.p.id, unix.Getuid(), 0))
	}
	return r
}

func sysWrite(c *call) int64 {
	if t := c.p.files.names[c.fd()]; t != nil {
		return c.nameThread(t)
	}
	if c.a[2] == 0 || !c.p.files.waits(c.fd()) {
		return c.broken(pass(c))
	}
	return c.broken(c.writeAll(c.a[1], c.a[2], func(at, n uint64) int64 {
		return result(hostCall(unix.SYS_WRITE, c.a[0], at, n))
	}))
}

// writeAll writes to a stream that may be full, as much at a time as fits.
func (c *call) writeAll(at, n uint64, write func(at, n uint64) int64) int64 {
	done := uint64(0)
	if c.prev != nil {
		done = c.prev.done
	}
	for done < n {
		if !ready(c.fd(), unix.POLLOUT) && !c.waitFD(c.fd(), unix.POLLOUT, done, NoDeadline) {
			return 0
		}
		part := n - done
		if c.p.files.kind(c.fd()) != kindOutside {
			part = min(part, streamChunk)
		}
		r := write(at+done, part)
		if r < 0 && done == 0 {
			return r
		}
		if r <= 0 {
			break
		}
		done += uint64(r)
	}
	return int64(done)
}

func sysWritev(c *call) int64 {
	if !c.p.files.waits(c.fd()) {
		return c.broken(pass(c))
	}
	buf, errno := c.gather(c.a[1], c.a[2])
	if errno != 0 {
		return errRes(errno)
	}
	if len(buf) == 0 {
		return c.broken(pass(c))
	}
	r := c.broken(c.writeAll(ptrOf(buf), uint64(len(buf)), func(at, n uint64) int64 {
		return result(hostCall(unix.SYS_WRITE, c.a[0], at, n))
	}))
	runtime.KeepAlive(buf)
	return r
}

// gather reads what an iovec names.
func (c *call) gather(iov, n uint64) ([]byte, unix.Errno) {
	if n > 1024 {
		return nil, unix.EINVAL
	}
	var out []byte
	for i := range n {
		at, ok1 := c.p.mem.load64(iov + 16*i)
		size, ok2 := c.p.mem.load64(iov + 16*i + 8)
		if !ok1 || !ok2 || size > 1<<31 {
			return nil, unix.EFAULT
		}
		b := make([]byte, size)
		if !c.p.mem.read(at, b) {
			return nil, unix.EFAULT
		}
		out = append(out, b...)
	}
	return out, 0
}

func sysSendto(c *call) int64 {
	flags := c.a[3]
	signal := c.broken
	if flags&unix.MSG_NOSIGNAL != 0 {
		signal = func(r int64) int64 { return r }
	}
	flags |= unix.MSG_NOSIGNAL
	call := func(at, n, more uint64) int64 {
		return result(hostCall(unix.SYS_SENDTO, c.a[0], at, n, flags|more, c.a[4], c.a[5]))
	}
	if flags&unix.MSG_DONTWAIT != 0 || !c.p.files.waits(c.fd()) {
		return signal(call(c.a[1], c.a[2], 0))
	}
	kind, err := unix.GetsockoptInt(c.fd(), unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_STREAM || c.a[2] == 0 {
		if !ready(c.fd(), unix.POLLOUT) && !c.waitFD(c.fd(), unix.POLLOUT, 0, NoDeadline) {
			return 0
		}
		return signal(call(c.a[1], c.a[2], 0))
	}
	return signal(c.writeAll(c.a[1], c.a[2], func(at, n uint64) int64 { return call(at, n, unix.MSG_DONTWAIT) }))
}

func sysSendmsg(c *call) int64 {
	if c.a[2]&unix.MSG_DONTWAIT == 0 && c.p.files.waits(c.fd()) && !ready(c.fd(), unix.POLLOUT) &&
		!c.waitFD(c.fd(), unix.POLLOUT, 0, NoDeadline) {
		return 0
	}
	r := result(hostCall(unix.SYS_SENDMSG, c.a[0], c.a[1], c.a[2]|unix.MSG_NOSIGNAL))
	if c.a[2]&unix.MSG_NOSIGNAL != 0 {
		return r
	}
	return c.broken(r)
}

// socketDeadline is the end of a receive, by SO_RCVTIMEO, which counts simulated time.
func (c *call) socketDeadline() unit.Nanos {
	if c.prev != nil {
		return c.prev.wait.Deadline
	}
	tv, err := unix.GetsockoptTimeval(c.fd(), unix.SOL_SOCKET, unix.SO_RCVTIMEO)
	if err != nil || tv.Sec == 0 && tv.Usec == 0 {
		return NoDeadline
	}
	return c.p.now + satNanos(tv.Sec, tv.Usec*1000)
}

func sysRecvfrom(c *call) int64 {
	flags := c.a[3]
	if flags&(unix.MSG_DONTWAIT|unix.MSG_ERRQUEUE) != 0 || !c.p.files.waits(c.fd()) {
		return pass(c)
	}
	if flags&unix.MSG_WAITALL != 0 && flags&unix.MSG_PEEK == 0 {
		return c.recvAll()
	}
	if !ready(c.fd(), unix.POLLIN) && !c.waitFD(c.fd(), unix.POLLIN, 0, c.socketDeadline()) {
		return 0
	}
	return pass(c)
}

// recvAll is recv with MSG_WAITALL: it collects until the buffer is full.
func (c *call) recvAll() int64 {
	done := uint64(0)
	if c.prev != nil {
		done = c.prev.done
	}
	for done < c.a[2] {
		if !ready(c.fd(), unix.POLLIN) && !c.waitFD(c.fd(), unix.POLLIN, done, c.socketDeadline()) {
			return 0
		}
		r := result(hostCall(unix.SYS_RECVFROM, c.a[0], c.a[1]+done, c.a[2]-done, c.a[3]&^unix.MSG_WAITALL|unix.MSG_DONTWAIT, c.a[4], c.a[5]))
		if r < 0 && done == 0 {
			return r
		}
		if r <= 0 {
			break
		}
		done += uint64(r)
	}
	return int64(done)
}

func sysRecvmsg(c *call) int64 {
	flags := c.a[2]
	if c.nr == unix.SYS_RECVMMSG {
		flags = c.a[3]
	}
	if flags&(unix.MSG_DONTWAIT|unix.MSG_ERRQUEUE) == 0 && c.p.files.waits(c.fd()) && !ready(c.fd(), unix.POLLIN) &&
		!c.waitFD(c.fd(), unix.POLLIN, 0, c.socketDeadline()) {
		return 0
	}
	return pass(c)
}

func sysAccept(c *call) int64 {
	if c.p.files.waits(c.fd()) && !ready(c.fd(), unix.POLLIN) && !c.waitFD(c.fd(), unix.POLLIN, 0, c.socketDeadline()) {
		return 0
	}
	return pass(c)
}

// sysConnect waits for the connection in simulated terms.
func sysConnect(c *call) int64 {
	if c.prev != nil {
		e, err := unix.GetsockoptInt(c.fd(), unix.SOL_SOCKET, unix.SO_ERROR)
		if err != nil {
			return errRes(unix.EBADF)
		}
		return errRes(unix.Errno(e))
	}
	if !c.p.files.waits(c.fd()) {
		return pass(c)
	}
	flags, _ := unix.FcntlInt(uintptr(c.fd()), unix.F_GETFL, 0)
	_, _ = unix.FcntlInt(uintptr(c.fd()), unix.F_SETFL, flags|unix.O_NONBLOCK)
	r := pass(c)
	_, _ = unix.FcntlInt(uintptr(c.fd()), unix.F_SETFL, flags)
	if r == errRes(unix.EAGAIN) { // a local socket whose queue is full
		return pass(c)
	}
	if r != errRes(unix.EINPROGRESS) || c.waitFD(c.fd(), unix.POLLOUT, 0, NoDeadline) {
		return r
	}
	return 0
}

// sysSendfile and its kin: wait for the output, then let the host do a part.
func sysSendfile(c *call) int64 {
	if !c.p.files.waits(c.fd()) {
		return c.broken(pass(c))
	}
	if !ready(c.fd(), unix.POLLOUT) && !c.waitFD(c.fd(), unix.POLLOUT, 0, NoDeadline) {
		return 0
	}
	if c.p.files.kind(c.fd()) != kindOutside {
		c.a[3] = min(c.a[3], streamChunk)
	}
	return c.broken(pass(c))
}

func sysSplice(c *call) int64 {
	const nonblock = 2
	in, out := c.fd(), int(int32(c.a[2]))
	if c.nr == unix.SYS_TEE {
		out = int(int32(c.a[1]))
	}
	if c.p.files.waits(in) && !ready(in, unix.POLLIN) && !c.waitFD(in, unix.POLLIN, 0, NoDeadline) {
		return 0
	}
	if c.p.files.waits(out) && !ready(out, unix.POLLOUT) && !c.waitFD(out, unix.POLLOUT, 0, NoDeadline) {
		return 0
	}
	if c.nr == unix.SYS_TEE {
		c.a[3] |= nonblock
	} else {
		c.a[5] |= nonblock
	}
	return c.broken(pass(c))
}

// sysFlock waits for a lock by trying again.
func sysFlock(c *call) int64 {
	fd, op := c.a[0], c.a[1]
	return c.tryUntil(op&unix.LOCK_NB == 0, unix.EAGAIN, func() (uint64, unix.Errno) {
		return hostCall(unix.SYS_FLOCK, fd, op|unix.LOCK_NB)
	})
}

// tryUntil does a call that answers busy instead of waiting, until it answers something else.
func (c *call) tryUntil(wait bool, busy unix.Errno, call func() (uint64, unix.Errno)) int64 {
	r, errno := call()
	if errno != busy || !wait {
		return result(r, errno)
	}
	return c.block(&blocking{wait: Wait{Kind: WaitFD, FD: c.fd()}, onSignal: restartSys, try: func() (int64, bool) {
		r, errno := call()
		return result(r, errno), errno != busy
	}})
}

func sysFcntl(c *call) int64 {
	const ofdSetlkw = 38
	switch cmd := c.a[1]; cmd {
	case unix.F_SETLKW, ofdSetlkw:
		fd, lock := c.a[0], c.a[2]
		return c.tryUntil(true, unix.EAGAIN, func() (uint64, unix.Errno) {
			return hostCall(unix.SYS_FCNTL, fd, cmd-1, lock)
		})
	}
	return pass(c)
}

// Calls that change what a number means.

func sysClose(c *call) int64 {
	fd := c.fd()
	if c.p.files.isProtected(fd) {
		return errRes(unix.EBADF)
	}
	c.p.files.forget(fd)
	c.p.closeTimerFD(fd)
	return pass(c)
}

func sysDup2(c *call) int64 {
	to := int(int32(c.a[1]))
	if c.p.files.isProtected(to) {
		return errRes(unix.EBUSY)
	}
	if to != c.fd() {
		c.p.files.forget(to)
		c.p.closeTimerFD(to)
	}
	return pass(c)
}

// sysCloseRange leaves lime's descriptors alone.
func sysCloseRange(c *call) int64 {
	lo, hi := uint32(c.a[0]), uint32(c.a[1])
	if lo > hi {
		return errRes(unix.EINVAL)
	}
	for fd := range c.p.files.kinds {
		if uint32(fd) >= lo && uint32(fd) <= hi {
			c.p.files.forget(fd)
		}
	}
	for _, r := range c.p.files.protectedRanges() {
		if uint32(r[1]) < lo || uint32(r[0]) > hi {
			continue
		}
		if uint32(r[0]) > lo {
			_, _ = hostCall(unix.SYS_CLOSE_RANGE, uint64(lo), uint64(r[0]-1), c.a[2])
		}
		if lo = uint32(r[1]) + 1; lo > hi {
			return 0
		}
	}
	return result(hostCall(unix.SYS_CLOSE_RANGE, uint64(lo), uint64(hi), c.a[2]))
}

func sysPread(c *call) int64 {
	if c.p.files.kind(c.fd()) == kindRandom {
		return c.readRandom(c.a[1], c.a[2])
	}
	return pass(c)
}

// sysSendfileLike waits for a pipe to have room.
func sysSendfileLike(c *call) int64 { return c.broken(c.passFD(unix.POLLOUT)) }

// sysSendmmsg sends what goes without waiting; with nothing sent it waits.
func sysSendmmsg(c *call) int64 {
	if c.a[3]&unix.MSG_DONTWAIT == 0 && c.p.files.waits(c.fd()) && !ready(c.fd(), unix.POLLOUT) &&
		!c.waitFD(c.fd(), unix.POLLOUT, 0, NoDeadline) {
		return 0
	}
	return pass(c)
}
