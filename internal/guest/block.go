package guest

import (
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/unit"
)

// Results that a system call never shows to the program (kernel:
// include/linux/errno.h): what a signal does to the call it interrupts.
const (
	restartSys   = -512 // again if the handler has SA_RESTART, else EINTR
	restartNoInt = -513 // always again
	restartNoHnd = -514 // EINTR if there is a handler
)

// cause says what ended a wait.
type cause uint8

const (
	causeNone    cause = iota
	causeDone          // the waker has set result
	causeTimeout       // the deadline passed
	causeSignal        // a signal came in
	causeRetry         // the host is ready: do the call again
)

// blocking is a system call that waits.
type blocking struct {
	wait      Wait
	cause     cause
	result    int64 // causeDone
	onTimeout int64
	onSignal  int64
	again     bool                             // after a timeout too, the call is done again (poll: to write its results)
	fds       []unix.PollFd                    // host waits
	watch     func() bool                      // host waits that no descriptor shows
	try       func() (result int64, over bool) // the same: does the call without waiting
	leave     func()                           // takes the thread out of a queue, unless the waker has
	timer     *timer
	done      uint64 // progress so far (bytes written)
}

// inHost says that the host, not the guest, ends the wait.
func (b *blocking) inHost() bool { return b.fds != nil || b.unseen() }

// unseen says that no descriptor shows the end of the wait.
func (b *blocking) unseen() bool { return b.watch != nil || b.try != nil }

// block makes the thread of a call wait.
func (c *call) block(b *blocking) int64 {
	t := c.t
	b.wait.Syscall = c.row.name
	t.block = b
	if b.wait.Deadline == 0 {
		b.wait.Deadline = NoDeadline
	}
	c.out = Outcome{Kind: Blocked, Wait: b.wait}
	if c.p.restsItself(t) {
		return 0
	}
	b.timer = c.p.timers.set(b.wait.Deadline, func(at unit.Nanos) { c.p.wake(t, causeTimeout, at) })
	if b.inHost() {
		c.p.hostWaiters = append(c.p.hostWaiters, t)
	}
	c.p.Poke()
	return 0
}

// wake ends a thread's wait.
func (p *Process) wake(t *Thread, why cause, at unit.Nanos) {
	b := t.block
	if b == nil || b.cause != causeNone {
		return
	}
	b.cause = why
	p.timers.stop(b.timer)
	if b.leave != nil && why != causeDone {
		b.leave()
	}
	if b.inHost() {
		p.dropHostWaiter(t)
	}
	t.rest.end()
	p.host.Ready(t, at)
}

// finish wakes a thread with a result.
func (p *Process) finish(t *Thread, result int64, at unit.Nanos) {
	if t.block != nil && t.block.cause == causeNone {
		t.block.result = result
		p.wake(t, causeDone, at)
	}
}

func (p *Process) dropHostWaiter(t *Thread) {
	for i, w := range p.hostWaiters {
		if w == t {
			p.hostWaiters = append(p.hostWaiters[:i:i], p.hostWaiters[i+1:]...)
			return
		}
	}
}

// unblock takes the result of a wait that is over. again: do the call once more.
func (b *blocking) unblock() (result int64, again bool) {
	switch b.cause {
	case causeDone:
		return b.result, false
	case causeTimeout:
		return b.onTimeout, b.again
	case causeSignal:
		return b.onSignal, false
	}
	return 0, true
}

// NextDeadline is the earliest time at which a timer or a timeout ends.
func (p *Process) NextDeadline() (unit.Nanos, bool) { return p.timers.next() }

// Advance fires all timers and timeouts up to now.
func (p *Process) Advance(now unit.Nanos) {
	p.now = max(p.now, now)
	p.timers.advance(now)
	p.lookAtFiles()
}

// HostWaiters is the number of threads that wait for the host (files, children).
func (p *Process) HostWaiters() int { return len(p.hostWaiters) }

// watchStep is how often waits are looked at that no descriptor shows.
const watchStep = 2 * time.Millisecond

// PollHost looks which host waits have ended, waiting at most d (0: do not wait;
// negative: until something happens), and calls Host.Ready for their threads. It
// also takes in signals from outside, which may wake any thread.
func (p *Process) PollHost(d time.Duration) (woken int) {
	p.poked = false
	fds := []unix.PollFd{{Fd: int32(p.signalFD), Events: unix.POLLIN}}
	watch := false
	for _, t := range p.hostWaiters {
		fds = append(fds, t.block.fds...)
		watch = watch || t.block.unseen()
	}
	end := time.Now().Add(max(d, 0))
	for {
		step := d
		if watch && (d < 0 || d > watchStep) {
			step = watchStep
		}
		pollHost(fds, step)
		woken = p.wakeReady(fds[1:])
		if fds[0].Revents != 0 {
			drainEventfd(p.signalFD)
		}
		p.takeSignals() // may wake others, and so change the list of waiters
		if woken > 0 || p.poked || d == 0 || d > 0 && !time.Now().Before(end) {
			return woken
		}
	}
}

// wakeReady wakes the host waiters whose descriptors (in order of the waiters) are ready.
func (p *Process) wakeReady(fds []unix.PollFd) (woken int) {
	for _, t := range append([]*Thread(nil), p.hostWaiters...) {
		b := t.block
		n := len(b.fds)
		if b.try != nil {
			if r, over := b.try(); over {
				p.finish(t, r, p.now)
				woken++
			}
			continue
		}
		ready := b.watch != nil && b.watch()
		for i := range min(n, len(fds)) {
			ready = ready || fds[i].Revents != 0
		}
		fds = fds[min(n, len(fds)):]
		if ready {
			p.wake(t, causeRetry, p.now)
			woken++
		}
	}
	return woken
}

// pollHost is poll; a negative d means without end. Interruptions end it early.
func pollHost(fds []unix.PollFd, d time.Duration) int {
	var ts *unix.Timespec
	if d >= 0 {
		v := unix.NsecToTimespec(int64(d))
		ts = &v
	}
	for {
		n, err := unix.Ppoll(fds, ts, nil)
		if err != unix.EINTR {
			return n
		}
	}
}

// Idle is to be called when no thread can run: it waits for the host or moves the clock on, and
// answers the new time. ok is false in a deadlock. A host wait with a timeout lasts as long in the
// host: what comes from outside keeps real time. So does any wait while child processes run.
func (p *Process) Idle(now unit.Nanos) (then unit.Nanos, ok bool) {
	p.now = max(p.now, now)
	at, timed := p.timers.next()
	live := timed && p.liveChildren()
	if len(p.hostWaiters) > 0 || live {
		d := time.Duration(-1)
		if timed {
			d = time.Duration(max(at-now, 0))
		}
		if timed && !live && !p.outsideWaiters() {
			d = 0
		}
		if n := p.PollHost(d); n > 0 || !timed || p.poked {
			p.poked = false
			return now, true
		}
	}
	if !timed {
		if p.sleepers() { // pause, sigwait: only a signal from outside can help
			p.PollHost(-1)
			p.poked = false
			return now, true
		}
		return now, false
	}
	then = max(now, at)
	p.Advance(then)
	return then, true
}

// sleepers says that some thread waits for a signal.
func (p *Process) sleepers() bool {
	for _, t := range p.threads {
		if t.block != nil && t.block.wait.Kind == WaitSignal {
			return true
		}
	}
	return false
}
