// How a thread waits that runs in parallel with others: its own host thread waits for the host's
// descriptors and for time. One that looked after all of them would have to be woken for each wait,
// and again for its end.

package guest

import (
	"time"

	"golang.org/x/sys/unix"
)

// rest is the wait of a thread's own host thread.
type rest struct {
	kick    int  // an eventfd, 0: none yet
	polling bool // it waits for descriptors: written to kick, that ends
}

// restsItself reports whether t's own host thread can wait for what ends its wait.
func (p *Process) restsItself(t *Thread) bool {
	b := t.block
	if p.cfg.Parallel == nil || b.unseen() || b.wait.Kind == WaitChild {
		return false
	}
	if b.fds == nil || t.rest.kick != 0 {
		return true
	}
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err == nil {
		t.rest.kick = p.files.protect(fd)
	}
	return err == nil
}

// closeRest is for a thread that is gone.
func (p *Process) closeRest(t *Thread) {
	if fd := t.rest.kick; fd != 0 {
		t.rest.kick = 0
		p.files.unprotect(fd)
		unix.Close(fd)
	}
}

// end ends the wait for descriptors.
func (r *rest) end() {
	if r.polling {
		one := [8]byte{1}
		_, _ = unix.Write(r.kick, one[:])
	}
}

// Rest has t's host thread wait, without the lock, until t may run on, or something has happened
// that may end its wait. sleep waits for Host.Ready, at most for so long (negative: for ever).
func (p *Process) Rest(t *Thread, sleep func(d time.Duration)) {
	b := t.block
	if b == nil || b.cause != causeNone || !p.restsItself(t) {
		sleep(-1)
		return
	}
	d := time.Duration(-1)
	if end := b.wait.Deadline; end != NoDeadline {
		d = time.Duration(max(end-p.HostNow(), 0))
	}
	ready := false
	if b.fds == nil {
		sleep(d)
	} else {
		ready = p.pollFor(t, b.fds, d)
	}
	if b.cause != causeNone {
		return
	}
	p.now = max(p.now, p.HostNow())
	switch {
	case ready:
		p.wake(t, causeRetry, p.now)
	case b.wait.Deadline <= p.now:
		p.wake(t, causeTimeout, b.wait.Deadline) // however late the host has woken it
	}
}

// pollFor waits for descriptors, and reports whether one of them is ready.
func (p *Process) pollFor(t *Thread, fds []unix.PollFd, d time.Duration) bool {
	kick := unix.PollFd{Fd: int32(t.rest.kick), Events: unix.POLLIN}
	all := append([]unix.PollFd{kick}, fds...)
	n := 0
	t.rest.polling = true
	p.outside(func() { n = pollHost(all, d) })
	t.rest.polling = false
	if all[0].Revents != 0 {
		drainEventfd(t.rest.kick)
		n--
	}
	return n > 0
}
