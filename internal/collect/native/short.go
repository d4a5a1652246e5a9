// Samples of threads that end within a period of the clock. The kernel begins a period anew for
// each thread, so those never have one, however many of them there are. Once there are such
// threads, another clock with a shorter period runs in all threads for a moment, again and again,
// so seldom that it makes no more samples a second than the first one does.

package native

import (
	"math/rand/v2"
	"time"

	"golang.org/x/sys/unix"

	"lime/internal/perf"
)

// shortClock is the name of that clock among the kinds of events.
const shortClock = "short-clock"

// shortTurns are these moments.
type shortTurns struct {
	clock  perf.Options  // how the first clock was opened
	of     *perf.Session // nil: there is none
	groups []*perf.Group
	opened map[*thread]bool // threads whose children inherit it
	life   float64          // of such a thread, on average, in ns
	period uint64           // ns, in threads that are made now
	last   time.Time        // that such a thread was seen to end
	next   time.Time        // when it runs again
	random *rand.Rand
}

// Limits of the turns.
const (
	leastShort = 10_000 // ns of the period: the kernel makes it no shorter (perf_swevent_start_hrtimer)
	mostShort  = 200_000
	shortParts = 8 // of a thread's life: the shortest period
	turnParts  = 2 // periods in a turn
	shortRoots = 8 // threads whose children are looked at: other threads are theirs, mostly
)

// draw is a period, from an eighth of a thread's life to all of it, by chance. A thread has its
// samples where its first period ends, its second and so on; of periods that are drawn by the
// inverse of their square, each with its length as its weight, every moment of a life behind the
// shortest of them has about as much.
func (s *shortTurns) draw(chance float64) uint64 {
	shortest := s.life / shortParts
	p := shortest / (1 - chance*(1-1.0/shortParts))
	return uint64(min(mostShort, max(leastShort, p)))
}

// can reports whether there is a first clock whose periods are known in ns.
func (s *shortTurns) can() bool { return s.of != nil && s.clock.Clock.Name != "cycles" }

// wants opens the clock for the children of a thread, one of which has ended within a period.
func (ev *events) wants(b brief, parent *thread) {
	s := &ev.short
	if !s.can() || b.threads < leastBrief {
		return
	}
	s.last = time.Now()
	if parent == nil || parent.ended || s.opened[parent] || len(s.opened) == shortRoots {
		return
	}
	if s.opened == nil {
		s.opened, s.life = map[*thread]bool{}, float64(b.ran)/float64(b.threads)
		s.period, s.random = s.draw(0.5), rand.New(rand.NewPCG(1, 2))
		ev.kinds[shortClock] = true
		clear(ev.eventIDs)
	}
	s.opened[parent] = true
	o := s.clock
	o.TID, o.Leader, o.Frequency = int(parent.tid), false, 1_000_000_000/s.period
	o.Clock.Name = shortClock
	if g, err := s.of.AddGroup(o); err == nil {
		s.groups = append(s.groups, g)
	}
}

// due is how long it is until the next turn, most if that is longer or there is none: for a second
// no such thread has ended.
func (s *shortTurns) due(now time.Time, most time.Duration) time.Duration {
	if len(s.groups) == 0 || now.Sub(s.last) > time.Second {
		return most
	}
	return max(time.Millisecond, min(most, s.next.Sub(now)))
}

// share is for what share of the time the clock runs: that which makes as many samples as the first
// one makes all the time.
func (s *shortTurns) share() float64 {
	return min(0.5, float64(s.clock.Frequency)*float64(s.period)/1e9)
}

// turn lets the clock run, if it is time. A turn that was too long, because lime had no core to end
// it, is made up for by the pause behind it.
func (s *shortTurns) turn(now time.Time) {
	if len(s.groups) == 0 || now.Before(s.next) {
		return
	}
	for _, g := range s.groups {
		_ = g.Enable() // where that fails, its thread has ended
	}
	ts := unix.NsecToTimespec(int64(turnParts * s.period))
	_ = unix.Nanosleep(&ts, nil) // the timers of Go are not that exact; a signal makes it shorter
	for _, g := range s.groups {
		_ = g.Disable()
	}
	s.next = now.Add(time.Duration(float64(time.Since(now)) / s.share()))
	s.period = s.draw(s.random.Float64())
	for _, g := range s.groups {
		_ = g.Period(s.period)
	}
}
