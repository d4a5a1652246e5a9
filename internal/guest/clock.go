package guest

import (
	"golang.org/x/sys/unix"

	"lime/internal/unit"
)

// Where the guest's clocks stand when the program starts: fixed, so that every run sees the same.
const (
	epoch    = unit.Nanos(1_767_225_600 * 1e9) // 2026-01-01 00:00:00 UTC
	bootTime = unit.Nanos(1000 * 1e9)          // uptime
)

// tscHz is the rate of the time stamp counter: one tick a nanosecond.
const tscHz = 1_000_000_000

// clockBase is a clock's value at time 0.
func (p *Process) clockBase(clock int) unit.Nanos { return p.bases.of(clock) }

// clockNow reads a clock. CPU clocks may be those of one thread.
func (c *call) clockNow(clock int) (unit.Nanos, bool) {
	p := c.p
	switch {
	case clock == unix.CLOCK_PROCESS_CPUTIME_ID:
		return p.host.CPUTime(nil), true
	case clock == unix.CLOCK_THREAD_CPUTIME_ID:
		return p.host.CPUTime(c.t), true
	case clock < 0: // a CPU clock: ^id<<3 | 4 (one thread) | 2 (scheduled time)
		id := int(^uint32(clock>>3)) & 0x1fffffff
		if clock&4 == 0 {
			return p.host.CPUTime(nil), id == 0 || id == p.id
		}
		t := p.threadArg(c.t, uint64(id))
		if t == nil {
			return 0, false
		}
		return p.host.CPUTime(t), true
	case clock > unix.CLOCK_TAI:
		return 0, false
	}
	return p.host.Now(c.t) + p.clockBase(clock), true
}

func timespecBytes(n unit.Nanos) []byte {
	var b [16]byte
	putLE64(b[:], uint64(n/1e9))
	putLE64(b[8:], uint64(n%1e9))
	return b[:]
}

func timevalBytes(n unit.Nanos) []byte {
	return timespecBytes(n - n%1e9 + n%1e9/1e3)
}

func sysClockGettime(c *call) int64 {
	n, ok := c.clockNow(int(int32(c.a[0])))
	if !ok {
		return errRes(unix.EINVAL)
	}
	return c.put(c.a[1], timespecBytes(n))
}

func sysClockGetres(c *call) int64 {
	if _, ok := c.clockNow(int(int32(c.a[0]))); !ok {
		return errRes(unix.EINVAL)
	}
	if c.a[1] == 0 {
		return 0
	}
	return c.put(c.a[1], timespecBytes(1))
}

func sysGettimeofday(c *call) int64 {
	if c.a[1] != 0 && c.put(c.a[1], make([]byte, 8)) != 0 {
		return errRes(unix.EFAULT)
	}
	if c.a[0] == 0 {
		return 0
	}
	return c.put(c.a[0], timevalBytes(c.p.host.Now(c.t)+c.p.bases.real))
}

func sysTime(c *call) int64 {
	s := uint64((c.p.host.Now(c.t) + c.p.bases.real) / 1e9)
	if c.a[0] != 0 && c.put64(c.a[0], s) != 0 {
		return errRes(unix.EFAULT)
	}
	return int64(s)
}

func sysTimes(c *call) int64 {
	var b [32]byte
	putLE64(b[:], uint64(c.p.host.CPUTime(nil)/1e7))
	if c.a[0] != 0 && c.put(c.a[0], b[:]) != 0 {
		return errRes(unix.EFAULT)
	}
	return int64((c.p.host.Now(c.t) + c.p.bases.boot) / 1e7)
}

// sysGetrusage tells the processor time; other figures of the host would vary.
func sysGetrusage(c *call) int64 {
	const self, thread = 0, 1
	var b [144]byte
	switch int32(c.a[0]) {
	case self:
		copy(b[:], timevalBytes(c.p.host.CPUTime(nil)))
	case thread:
		copy(b[:], timevalBytes(c.p.host.CPUTime(c.t)))
	case -1:
		return pass(c)
	default:
		return errRes(unix.EINVAL)
	}
	putLE64(b[32:], 64<<10) // ru_maxrss in kB
	return c.put(c.a[1], b[:])
}

func sysNanosleep(c *call) int64 {
	return c.sleep(c.a[0], c.a[1], false, unix.CLOCK_MONOTONIC)
}

func sysClockNanosleep(c *call) int64 {
	const timerAbstime = 1
	clock := int(int32(c.a[0]))
	if clock == unix.CLOCK_THREAD_CPUTIME_ID || clock > unix.CLOCK_TAI {
		return errRes(unix.EINVAL)
	}
	return c.sleep(c.a[2], c.a[3], c.a[1]&timerAbstime != 0, clock)
}

// sleep waits in simulated time. left gets what remains when a signal ends it.
func (c *call) sleep(a, left uint64, absolute bool, clock int) int64 {
	d, errno := c.timespec(a)
	if errno != 0 {
		return errRes(errno)
	}
	end := c.until(d, absolute, clock)
	if end <= c.p.now || d == 0 && !absolute {
		c.out.Kind = Yield
		return 0
	}
	b := &blocking{wait: Wait{Kind: WaitTime, Deadline: end}, onSignal: errRes(unix.EINTR)}
	if absolute {
		b.onSignal = restartNoHnd
	} else if left != 0 {
		p := c.p
		b.leave = func() {
			if b.cause == causeSignal {
				p.mem.write(left, timespecBytes(max(end-p.now, 0)))
			}
		}
	}
	return c.block(b)
}

// intervalTimer is a timer of setitimer or timer_create.
type intervalTimer struct {
	p      *Process
	clock  int
	period unit.Nanos
	timer  *timer
	missed int
	fire   func(tm *intervalTimer)
}

// arm starts the timer; at is NoDeadline to stop it.
func (tm *intervalTimer) arm(at, period unit.Nanos) {
	tm.p.timers.stop(tm.timer)
	tm.timer, tm.period = nil, period
	if at == NoDeadline {
		return
	}
	tm.timer = tm.p.timers.set(at, tm.expire)
	tm.p.Poke()
}

func (tm *intervalTimer) expire(at unit.Nanos) {
	tm.timer, tm.missed = nil, 0
	tm.p.now = max(tm.p.now, at)
	if tm.period > 0 {
		next := at + tm.period
		if next <= tm.p.now { // time jumped: skip what was missed
			n := (tm.p.now-next)/tm.period + 1
			tm.missed = int(n)
			next += n * tm.period
		}
		tm.timer = tm.p.timers.set(next, tm.expire)
	}
	tm.fire(tm)
}

// left is the time to the next expiry, 0 if the timer is stopped.
func (tm *intervalTimer) left() unit.Nanos {
	if tm == nil || tm.timer == nil {
		return 0
	}
	return max(tm.timer.at-tm.p.now, 1)
}

// The three interval timers. CPU-time timers run on the process clock: simulated
// threads that run in parallel do not make them go faster.
var itimerSignals = [3]unix.Signal{unix.SIGALRM, unix.SIGVTALRM, unix.SIGPROF}

func (p *Process) itimer(which int) *intervalTimer {
	if p.itimers[which] == nil {
		sig := int(itimerSignals[which])
		p.itimers[which] = &intervalTimer{p: p, fire: func(tm *intervalTimer) { p.send(nil, newInfo(sig, siKernel)) }}
	}
	return p.itimers[which]
}

// valueBytes is an itimerval or itimerspec: period, then the time left.
func (tm *intervalTimer) valueBytes(enc func(unit.Nanos) []byte) []byte {
	if tm == nil {
		return make([]byte, 32)
	}
	return append(append([]byte(nil), enc(tm.period)...), enc(tm.left())...)
}

func sysGetitimer(c *call) int64 {
	if c.a[0] > 2 {
		return errRes(unix.EINVAL)
	}
	return c.put(c.a[1], c.p.itimers[c.a[0]].valueBytes(timevalBytes))
}

func sysSetitimer(c *call) int64 {
	if c.a[0] > 2 {
		return errRes(unix.EINVAL)
	}
	tm := c.p.itimer(int(c.a[0]))
	var b [32]byte
	if c.a[1] != 0 && !c.p.mem.read(c.a[1], b[:]) {
		return errRes(unix.EFAULT)
	}
	if c.a[2] != 0 && c.put(c.a[2], tm.valueBytes(timevalBytes)) != 0 {
		return errRes(unix.EFAULT)
	}
	period, first, ok := timevalPair(b[:])
	if !ok {
		return errRes(unix.EINVAL)
	}
	tm.start(c, first, period)
	return 0
}

// start arms a timer relative to now; a first time of 0 stops it.
func (tm *intervalTimer) start(c *call, first, period unit.Nanos) {
	if first == 0 {
		tm.arm(NoDeadline, 0)
		return
	}
	tm.arm(c.until(first, false, 0), period)
}

func timevalPair(b []byte) (period, value unit.Nanos, ok bool) {
	v := [4]int64{int64(le64(b)), int64(le64(b[8:])), int64(le64(b[16:])), int64(le64(b[24:]))}
	if v[0] < 0 || v[2] < 0 || uint64(v[1]) >= 1e6 || uint64(v[3]) >= 1e6 {
		return 0, 0, false
	}
	return satNanos(v[0], v[1]*1e3), satNanos(v[2], v[3]*1e3), true
}

func sysAlarm(c *call) int64 {
	tm := c.p.itimer(0)
	left := (tm.left() + 1e9 - 1) / 1e9
	tm.start(c, satNanos(int64(uint32(c.a[0])), 0), 0)
	return int64(left)
}

// sysTimerCreate makes a POSIX timer that sends a signal, or nothing.
func sysTimerCreate(c *call) int64 {
	const sigevSignal, sigevNone, sigevThreadID = 0, 1, 4
	p := c.p
	ev := [64]byte{}
	sig, notify := int(unix.SIGALRM), uint32(sigevSignal)
	if c.a[1] != 0 {
		if !p.mem.read(c.a[1], ev[:]) {
			return errRes(unix.EFAULT)
		}
		sig, notify = int(le32(ev[8:])), le32(ev[12:])
	}
	if _, ok := c.clockNow(int(int32(c.a[0]))); !ok || notify != sigevNone && (sig < 1 || sig > numSignals) {
		return errRes(unix.EINVAL)
	}
	id := p.nextTmr
	value := le64(ev[:])
	if c.a[1] == 0 {
		value = uint64(id)
	}
	var target *Thread
	if notify&sigevThreadID != 0 {
		if target = p.thread(int(le32(ev[16:]))); target == nil {
			return errRes(unix.EINVAL)
		}
	}
	tm := &intervalTimer{p: p, clock: int(int32(c.a[0]))}
	tm.fire = func(tm *intervalTimer) {
		if notify != sigevNone {
			p.sendTimer(target, sig, id, value, tm)
		}
	}
	if c.put(c.a[2], []byte{byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24)}) != 0 {
		return errRes(unix.EFAULT)
	}
	p.nextTmr++
	p.ptimers[id] = tm
	return 0
}

// sendTimer sends a timer's signal.
func (p *Process) sendTimer(t *Thread, sig, id int, value uint64, tm *intervalTimer) {
	if t != nil && p.thread(t.TID) == nil {
		return
	}
	i := newInfo(sig, siTimer)
	putLE32(i[16:], uint32(id))
	putLE32(i[20:], uint32(tm.missed))
	putLE64(i[24:], value)
	p.send(t, i)
}

func (c *call) ptimer() *intervalTimer { return c.p.ptimers[int(int32(c.a[0]))] }

func sysTimerSettime(c *call) int64 {
	const absolute = 1
	tm := c.ptimer()
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
	tm.missed = 0
	if c.a[1]&absolute != 0 && first != 0 {
		tm.arm(c.until(first, true, tm.clock), period)
		return 0
	}
	tm.start(c, first, period)
	return 0
}

func sysTimerGettime(c *call) int64 {
	tm := c.ptimer()
	if tm == nil {
		return errRes(unix.EINVAL)
	}
	return c.put(c.a[1], tm.valueBytes(timespecBytes))
}

func sysTimerGetoverrun(c *call) int64 {
	tm := c.ptimer()
	if tm == nil {
		return errRes(unix.EINVAL)
	}
	return int64(tm.missed)
}

func sysTimerDelete(c *call) int64 {
	tm := c.ptimer()
	if tm == nil {
		return errRes(unix.EINVAL)
	}
	tm.arm(NoDeadline, 0)
	delete(c.p.ptimers, int(int32(c.a[0])))
	return 0
}
