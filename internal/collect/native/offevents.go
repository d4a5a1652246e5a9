// The samples of threads that leave their cores: how they are taken, and what keeps their number
// within bounds.

package native

import (
	"fmt"

	"lime/internal/collect"
	"lime/internal/perf"
	"lime/internal/profile"
	"lime/internal/unit"
)

// leavingStack is what these samples copy of the stack, in bytes. Who sleeps leaves the rest as it
// is, so that it can be read later.
const leavingStack = 2048

// openSwitches opens samples of threads that leave their cores, if that is allowed.
func (ev *events) openSwitches(o perf.Options) {
	o.Clock, o.Kernel, o.Leader, o.Period, o.Layout = perf.Switches(), true, false, 1, perf.Layout{Stack: leavingStack}
	s, err := perf.Open(o)
	if err != nil {
		return
	}
	ev.session = append([]*perf.Session{s}, ev.session...)
	ev.leavings.on = append(ev.leavings.on, s)
	ev.kinds[o.Clock.Name] = true
}

// leavings are the samples of threads that leave their cores. A thread may do so a hundred thousand
// times a second, and each costs some microseconds; so they are switched off once there are more
// than the budget allows, until their mean over the time since then is within it.
type leavings struct {
	on     []*perf.Session
	budget budget
	paused bool
}

// budget holds the number of samples to a rate, whatever comes.
type budget struct {
	rate   float64 // samples a second that are allowed
	burst  float64 // more than that at once
	credit float64
	at     uint64 // when it was reckoned
}

// spend takes n samples at a moment, and reports whether further ones are allowed.
func (b *budget) spend(n int, now uint64) bool {
	if b.at == 0 {
		b.credit = b.burst
	} else {
		b.credit = min(b.burst, b.credit+b.rate*float64(now-min(now, b.at))/1e9)
	}
	b.at = now
	b.credit -= float64(n)
	return b.credit > 0
}

// keepWithin switches the samples of leavings off and on again.
func (ev *events) keepWithin(now uint64, threads int) {
	l := &ev.leavings
	if len(l.on) == 0 {
		return
	}
	l.budget.rate = float64(ev.o.Frequency) * float64(max(1, threads))
	l.budget.burst = l.budget.rate // what a second allows
	within := l.budget.spend(ev.leftSamples, now)
	ev.leftSamples = 0
	if within != l.paused {
		return
	}
	l.paused = !within
	for _, s := range l.on {
		switch {
		case l.paused:
			_ = s.Disable() // an error would leave more samples than there should be
		default:
			_ = s.Enable()
		}
	}
}

// noteOff says how it is known where threads left their cores, and what could not be seen.
func (r *run) noteOff(notes collect.Notes) {
	var seen, unseen, queued uint64
	for _, p := range r.all() {
		seen, unseen, queued = seen+p.absences.seen, unseen+p.absences.unseen, queued+p.absences.queued
	}
	if seen+unseen > 0 {
		how := "where threads left their cores is known from a sample at each time (software event context-switches)"
		if len(r.events.leavings.on) == 0 {
			how = "where threads left their cores is known from looks at those that are off them " +
				"(/proc/PID/task/TID/syscall): samples of that need kernel.perf_event_paranoid of 1 or less, or CAP_PERFMON"
		}
		if unseen > 0 {
			how += fmt.Sprintf("; %d of %d times were not seen, and are charged to where the thread was seen to leave last", unseen, seen+unseen)
		}
		notes.Set(profile.NoteOffCore, how, 1)
	}
	if queued > 0 {
		notes.Set(profile.NoteRunQueue, fmt.Sprintf("for %v in all, threads could have gone on and had no core: that "+
			"is part of the time on the wall, and of no section's time", unit.Nanos(queued)), 1)
	}
}
