// Time where threads run in parallel. The program's own time is the host's. The profile's is in
// instructions: every thread has a clock that counts what it has executed, and where it has waited
// for another one it goes on at that one's clock, if it is later. So lengths of parts are exact and
// do not depend on the host's load; the order of things is that in which they happened.

package sim

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/collect/known"
	"lime/internal/unit"
)

// meeting is one passage of a barrier.
type meeting struct {
	last   uint64 // clock of the latest arrival
	over   bool   // who comes now comes to the next one
	opened bool   // somebody who waited there has come out: so can all
}

// arrives is told that t has come to a barrier.
func (b *beside) arrives(t *thread, c *call) {
	if b == nil {
		return
	}
	m := b.meetings[c.object]
	if m == nil || m.over {
		m = &meeting{}
		b.meetings[c.object] = m
	}
	m.last = max(m.last, t.now())
	c.meeting = m
}

// leaves is told that it leaves the barrier: it has waited there, be it by going round a loop,
// until the last has come, and has done its tasks.
func (b *beside) leaves(t *thread, c *call) {
	if b == nil || c.meeting == nil {
		return
	}
	c.meeting.over, c.meeting.opened = true, true
	b.since(t, max(c.at, c.worked), c.meeting.last)
}

// since sets t's clock: it has only waited since it stood at began, for something that happened at
// a clock.
func (b *beside) since(t *thread, began, happened uint64) {
	if b == nil {
		return
	}
	m := t.here()
	if k := m.core; k != nil {
		m.busy -= min(m.busy, k.clock-min(k.clock, began))
		k.clock = max(began, happened)
		m.host.from = k.clock
	}
}

// wakeClock is the clock at which t, which is blocked, can run on: that of the thread that wakes
// it, or later by what the host's clock says. Who has waited for a lock has not waited longer than
// it really did, whatever the other one's clock shows; who has slept has slept as long as it asked
// for, however late the host let it go on; and who waits for others and has looked up meanwhile, as
// its patience was at an end, is not ahead of those who work.
func (ex *exits) wakeClock(t *thread, at unit.Nanos) uint64 {
	if ex.beside == nil {
		return ex.clocks.clock(at)
	}
	really := t.at
	if t.host.since != 0 { // else it has not come to rest yet
		really += ex.clocks.clock(max(min(at, ex.memory.proc.HostNow())-t.host.since, 0))
	}
	by := ex.cur
	if at, ok := wakesInGo(ex.beside, t, by, really); ok {
		return at
	}
	if by == nil || by == t || by.here().core == nil {
		return ex.beside.r.roster.withOthers(t, really)
	}
	if t.waitsOn == waitsLock || t.waitsOn == waitsInner && t.atLock() {
		return min(really, by.now())
	}
	return by.now()
}

// withOthers is the clock of t, which has waited for others until time was up: how far they come in
// that time is the host's load, and what they do is what t waits for.
func (r *roster) withOthers(t *thread, really uint64) uint64 {
	if t.waitsOn == waitsOff || t.waitsOn == waitsIdle {
		return really
	}
	furthest, any := uint64(0), false
	for _, o := range r.byGuest {
		if o != t && works(o) {
			furthest, any = max(furthest, o.now()), true
		}
	}
	if !any {
		return really
	}
	return min(really, furthest)
}

// works reports whether t has something to do, and a core for it. Who waits for a lock has not: its
// holder has, or sleeps.
func works(t *thread) bool {
	if n := len(t.frames); t.idle || n > 0 && t.frames[n-1].waits() {
		return false
	}
	return t.core != nil
}

// atLock reports whether a thread is in a call that takes a lock.
func (t *thread) atLock() bool {
	n := len(t.frames)
	if n == 0 {
		return false
	}
	switch t.frames[n-1].fn.Role {
	case known.Lock, known.TryLock, known.ReadLock, known.Turn, known.GoLock:
		return true
	}
	return false
}

// cpuTime is the processor time of a thread, or of all: the host's.
func (b *beside) cpuTime(t *thread) unit.Nanos {
	clock := int32(unix.CLOCK_PROCESS_CPUTIME_ID)
	if t != nil && t.host.tid != 0 {
		const ofThread = 6 // CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED (include/linux/posix-timers.h)
		clock = ^int32(t.host.tid)<<3 | ofThread
	}
	var ts unix.Timespec
	if unix.ClockGettime(clock, &ts) != nil {
		return 0
	}
	return unit.Nanos(time.Duration(ts.Nano()))
}

// hostTime says what the run took here.
func (b *beside) hostTime() string {
	seconds := func(n unit.Nanos) float64 { return float64(n) / 1e9 }
	return fmt.Sprintf("The run took %.2f s, and %.2f s of processor time, lime's own work included.",
		seconds(b.r.memory.proc.HostNow()), seconds(b.cpuTime(nil)))
}

// width is for how many cores the profile's times are: its clocks give every thread a core of its
// own. Goroutines have as many cores as there were seats.
func (b *beside) width(cores int) int {
	if b == nil {
		return cores
	}
	if n := b.r.goroutines.seats.width(); n > 0 {
		return min(max(b.most, 1), n)
	}
	return max(b.most, 1)
}

// end is the clock at which the program ended: that of who ended it, or the latest. Who only waits
// for work has gone round a loop, perhaps, since it had some.
func (b *beside) end() (at uint64) {
	if t := b.r.end.by; t != nil {
		return t.now()
	}
	for _, t := range b.r.roster.threads {
		if !t.idle {
			at = max(at, t.now())
		}
	}
	return at
}
