package guest

import (
	"crypto/rand"
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/unit"
)

// Parallel is what a process needs whose threads run beside each other, each on a thread of the
// host. Whoever calls into the process holds one lock. Clocks, random numbers and waiting are the
// host's.
type Parallel struct {
	// Outside runs f without the lock: a call of the host's that may take long.
	Outside func(f func())
	// Interrupt says that t has a signal to handle, and may be running its code.
	Interrupt func(t *Thread)
}

// outside runs f, which may take long; with threads in parallel others may call into the process
// meanwhile.
func (p *Process) outside(f func()) {
	if p.cfg.Parallel == nil {
		f()
		return
	}
	p.cfg.Parallel.Outside(f)
}

// interrupt lets t handle a signal soon.
func (p *Process) interrupt(t *Thread) {
	if p.cfg.Parallel != nil {
		p.cfg.Parallel.Interrupt(t)
	}
}

// bases are what the host's clocks showed at time 0 of the process.
type bases struct {
	real, mono, boot unit.Nanos
	began            time.Time
}

func hostBases() bases {
	now := func(clock int32) unit.Nanos {
		var ts unix.Timespec
		_ = unix.ClockGettime(clock, &ts)
		return unit.Nanos(ts.Nano())
	}
	return bases{now(unix.CLOCK_REALTIME), now(unix.CLOCK_MONOTONIC), now(unix.CLOCK_BOOTTIME), time.Now()}
}

// of is a clock's value at time 0.
func (b *bases) of(clock int) unit.Nanos {
	switch clock {
	case unix.CLOCK_REALTIME, unix.CLOCK_REALTIME_COARSE, unix.CLOCK_TAI, unix.CLOCK_REALTIME_ALARM:
		return b.real
	case unix.CLOCK_MONOTONIC, unix.CLOCK_MONOTONIC_RAW, unix.CLOCK_MONOTONIC_COARSE:
		return b.mono
	case unix.CLOCK_BOOTTIME, unix.CLOCK_BOOTTIME_ALARM:
		return b.boot
	}
	return 0
}

// HostNow is the host's time since the process began.
func (p *Process) HostNow() unit.Nanos { return unit.Nanos(time.Since(p.bases.began)) }

// fill answers with random bytes: the host's where threads run in parallel, else those of a fixed
// generator.
func (p *Process) fillRandom(b []byte) {
	if p.cfg.Parallel == nil {
		p.random.fill(b)
		return
	}
	_, _ = rand.Read(b) // it never fails
}

// Tend waits without the lock until there may be something for a thread that does not wait itself,
// at most d, and then lets those run on for whom there is: signals, timers, children, and waits
// that no descriptor shows.
func (p *Process) Tend(d time.Duration) {
	fds := []unix.PollFd{{Fd: int32(p.signalFD), Events: unix.POLLIN}}
	for _, t := range p.hostWaiters {
		fds = append(fds, t.block.fds...)
		if t.block.unseen() {
			d = min(d, watchStep)
		}
	}
	if at, ok := p.timers.next(); ok {
		d = min(d, time.Duration(max(at-p.HostNow(), 0)))
	}
	p.outside(func() { pollHost(fds, d) })
	now := p.HostNow()
	if at, ok := p.timers.next(); ok && at <= now {
		p.Advance(now)
	}
	p.now = max(p.now, now)
	p.PollHost(0)
}

// Poke ends a wait in Tend: what it waits for has changed.
func (p *Process) Poke() {
	if p.cfg.Parallel == nil {
		return
	}
	one := [8]byte{1}
	_, _ = unix.Write(p.signalFD, one[:])
}

// Stuck reports whether nothing can ever end a wait: it is to be asked when no thread runs.
func (p *Process) Stuck() bool {
	if _, timed := p.timers.next(); timed || len(p.hostWaiters) > 0 || p.sleepers() || p.liveChildren() || p.extAny.Load() {
		return false
	}
	for _, t := range p.threads {
		if b := t.block; b != nil && (b.inHost() || b.wait.Deadline != NoDeadline) {
			return false
		}
	}
	return true
}
