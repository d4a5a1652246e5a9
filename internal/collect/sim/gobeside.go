// Threads of Go's scheduler where threads run in parallel. What they do follows from what the
// goroutines on them do: a thread that has been let go takes the next goroutine from wherever one
// stands in line. So the order of their clocks has to hold on a host without a core for each, too, and
// what they wait for in the runtime is none of a goroutine's waits.

package sim

import (
	"slices"
	"time"

	"lime/internal/collect/known"
	"lime/internal/unit"
)

// spunLong reports whether t has been where it waits for so long that it goes round a loop there. A
// thread of Go's scheduler does what the goroutine on it does; without one it looks for work for a
// moment, or does the runtime's.
func spunLong(t *thread) bool {
	if t = t.acting(); t.schedules() {
		return false
	}
	return t.covered() && t.now()-min(t.now(), t.waitsSince()) > longSpun
}

// paces reports whether a thread of Go's scheduler has to keep the order of clocks with another one
// that has a place: the host may have no core for that one at the moment, which is to take over what
// stands in line behind this one.
func (s *turnstile) paces(t *thread) bool {
	return t.hosts != nil && !s.loose && slices.ContainsFunc(s.taken, func(o *thread) bool { return o != t && o.hosts != nil })
}

// outruns reports whether a thread of Go's scheduler is too far ahead of another one that has a place.
func (s *turnstile) outruns(t *thread) bool {
	return t.hosts != nil && !s.loose && slices.ContainsFunc(s.taken, func(o *thread) bool {
		return o != t && o.hosts != nil && o.core != nil && o.rank() < t.rank() && t.now() > o.now()+leadOf(t)
	})
}

// wakesInGo is the clock at which a thread of Go's scheduler goes on that has slept, really until a
// clock of the host's; false if it is none, or if its goroutine waits by itself. With a goroutine on it,
// it has waited for a lock of the runtime's, which are held for a moment, or for others to stop: how
// long that takes is the host's load. Without one it may have been woken by time: by then it is as
// late as the others are who work. Who only looks at the host's clock tells nobody what time it is.
func wakesInGo(b *beside, t, by *thread, really uint64) (at uint64, ok bool) {
	switch h := t.hosts; {
	case h == nil || b.over:
		return 0, false
	case h.on != nil:
		return t.at, waitsOnFutex(t) && h.on.in(known.GoC) == nil
	case h.monitor:
		return t.at, true // it has watched nobody
	case by == nil:
		return b.r.roster.withGoroutines(really), true
	case by.here().hosts == nil || by.here().hosts.monitor:
		return t.at, true
	}
	return 0, false
}

// withGoroutines is a clock of the host's, but no later than that of the goroutine that is furthest
// ahead, if any runs: how far they come meanwhile is the host's load.
func (r *roster) withGoroutines(really uint64) uint64 {
	furthest, any := r.goroutineAhead()
	if !any {
		return really
	}
	return min(really, furthest)
}

// goroutineAhead is the clock of the goroutine that is furthest ahead of those that run, if any does.
func (r *roster) goroutineAhead() (furthest uint64, any bool) {
	for _, o := range r.byGuest {
		if o.hosts != nil && o.hosts.on != nil && o.core != nil {
			furthest, any = max(furthest, o.now()), true
		}
	}
	return furthest, any
}

// sysNanosleep is the number of nanosleep (syscall_64.tbl).
const sysNanosleep = 35

// naps has a thread of Go's scheduler that is about to sleep for a moment before it takes over what
// stands in line behind another one give its core away in place of that, and be later by what it asked
// for: asleep on the host it would come when the host has a core for it, and the other one be done. Who
// looks after the others looks again when they have come so far, as long as there are any.
func naps(b *beside, t *thread) {
	if b == nil || b.over || t.ctx.GPR[rax] != sysNanosleep || !t.schedules() || t.hosts.on != nil {
		return
	}
	seconds, _ := b.r.memory.word(t.ctx.GPR[rdi])
	nanos, ok := b.r.memory.word(t.ctx.GPR[rdi] + 8)
	if !ok || seconds != 0 {
		return
	}
	from := t.now()
	if t.monitors(b.r.places) {
		front, any := b.r.roster.goroutineAhead()
		if !any {
			return
		}
		from = min(from, front)
	}
	t.core.clock = max(t.now(), from+b.r.clocks.clock(unit.Nanos(min(nanos, uint64(time.Millisecond)))))
	t.ctx.GPR[rax] = sysSchedYield
}

// monitors reports whether a thread of Go's scheduler, which is about to sleep, runs no goroutines: it
// looks at the host's clock again and again, and takes processors from those that are in a system call
// for long.
func (t *thread) monitors(pl *places) bool {
	h := t.hosts
	h.monitor = h.monitor || slices.ContainsFunc(pl.stack(t), func(f frameRef) bool {
		name, _ := pl.images.function(f.ret - 1)
		return known.GoMonitors(name)
	})
	return h.monitor
}

// width is how many goroutines run at a time; 0 if there are none, or if others than they may run.
func (s *goSeats) width() int {
	if s == nil || s.inC {
		return 0
	}
	return len(s.free)
}

// enterGoSleep notes for how long a goroutine is about to sleep: when its thread comes to look whether
// the time is over is the host's load.
func (gr *goroutines) enterGoSleep(t *thread, _ *fn) {
	if ns := int64(t.ctx.GPR[rax]); t.goroutine != nil && ns > 0 {
		t.goroutine.asked = gr.clocks.clock(unit.Nanos(ns))
	}
}

// inGoRuntime reports whether a thread stands in Go's runtime on behalf of the goroutine that it runs:
// who gives its core away there waits for a lock of the runtime's, or for others to stop.
func inGoRuntime(t *thread) bool {
	return t.hosts != nil && t.hosts.on != nil && t.hosts.on.in(known.GoC) == nil
}
