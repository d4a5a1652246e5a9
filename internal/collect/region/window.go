package region

import (
	"sort"
	"time"
)

// Window is the measured time of a run. Moments are in the collector's clock; the user's times go
// by the one that the program sees, which is another one where clocks count instructions.
type Window struct {
	spec      Spec
	inside    int  // calls and phases that threads are in
	open      bool // it is measured now
	opened    time.Duration
	spent     time.Duration // in stretches that are over
	over      bool          // for good
	stretches []stretch
}

// stretch is a time in which the run was measured.
type stretch struct {
	from, to uint64 // to: 0 while it goes on
	before   uint64 // measured time before it
}

// NewWindow is closed.
func NewWindow(s Spec) *Window { return &Window{spec: s} }

// Spec is what the user asks for.
func (w *Window) Spec() *Spec { return &w.spec }

// Enter and Leave count the calls and phases that threads are in.
func (w *Window) Enter() { w.inside++ }

// Leave is told of so many that are over.
func (w *Window) Leave(n int) { w.inside -= n }

// Open reports whether it is measured now.
func (w *Window) Open() bool { return w.open }

// Over reports whether nothing will be measured any more.
func (w *Window) Over() bool { return w.over }

// Wanted reports whether it is to be measured now.
func (w *Window) Wanted(now time.Duration) bool {
	switch s := &w.spec; {
	case w.over || now < s.Delay:
		return false
	case s.Duration > 0 && w.measured(now) >= s.Duration:
		w.over = true
		return false
	default:
		return !s.placed() || w.inside > 0
	}
}

func (w *Window) measured(now time.Duration) time.Duration {
	if w.open {
		return w.spent + now - w.opened
	}
	return w.spent
}

// Next is how long it takes until what is wanted changes by the time alone; ok is false if it does
// not.
func (w *Window) Next(now time.Duration) (d time.Duration, ok bool) {
	switch s := &w.spec; {
	case w.over:
		return 0, false
	case now < s.Delay:
		return s.Delay - now, true
	case w.open && s.Duration > 0:
		return max(0, s.Duration-w.measured(now)), true
	}
	return 0, false
}

// Begin begins a stretch.
func (w *Window) Begin(at uint64, now time.Duration) {
	before := uint64(0)
	if n := len(w.stretches); n > 0 {
		last := &w.stretches[n-1]
		at = max(at, last.to)
		before = last.before + last.to - last.from
	}
	w.open, w.opened = true, now
	w.stretches = append(w.stretches, stretch{from: at, before: before})
}

// End ends it.
func (w *Window) End(at uint64, now time.Duration) {
	last := &w.stretches[len(w.stretches)-1]
	last.to = max(at, last.from)
	w.spent, w.open = w.measured(now), false
}

// At is how much was measured until a moment. It never goes back, and only grows while it is
// measured.
func (w *Window) At(moment uint64) uint64 {
	i := sort.Search(len(w.stretches), func(i int) bool { return w.stretches[i].from > moment }) - 1
	if i < 0 {
		return 0
	}
	s := &w.stretches[i]
	if w.open && i == len(w.stretches)-1 {
		return s.before + moment - s.from
	}
	return s.before + min(moment, s.to) - s.from
}

// Spent is how much the program saw of what was measured, and in how many stretches.
func (w *Window) Spent(now time.Duration) (time.Duration, int) {
	return w.measured(now), len(w.stretches)
}
