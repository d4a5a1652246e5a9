// Yields. Who gives its core away says that it has nothing to do at the moment: it waits for what
// others do, whether its loop is proved to wait or looks for work in places that it locks
// meanwhile.

package sim

import (
	"slices"

	"lime/internal/guest"
)

// noteYield remembers that t has spent the time of a yield, until its segment ends: if it was in a
// loop that turns out to wait, that is told by the loop.
func (sg *segments) noteYield(t *thread) {
	if t.hosts != nil || t.goroutine != nil || t.covered() {
		return
	}
	if call := sg.places.ownCall(t); call != 0 {
		takes := sg.clocks.clock(guest.YieldTakes)
		t.noteYielded(spinWait, call, takes)
		t.yields += takes
	}
}

// noteYielded remembers that t waited so long by giving its core away in a call of the program's.
func (t *thread) noteYielded(kind waitEvent, call, units uint64) {
	t.atHome()
	t.yielded = noted(t.yielded, lockEvent{kind, call, 1, units, t.watchedCandidate()})
}

// lessYields forgets the time of yields that has been taken out with a loop.
func (t *thread) lessYields(units uint64) {
	for i := range t.yielded {
		y := &t.yielded[i]
		out := min(y.wait, units)
		y.wait, units = y.wait-out, units-out
		t.yields -= min(out, t.yields)
	}
	t.yielded = slices.DeleteFunc(t.yielded, func(y lockEvent) bool { return y.wait == 0 })
}

// reportYields tells of the others, with the segment that has ended.
func (sg *segments) reportYields(t *thread, p *segment) {
	sum := uint64(0)
	for _, y := range t.yielded {
		sum += y.wait
		p.locks = noted(p.locks, y)
	}
	t.yielded = nil
	if sum > 0 {
		sg.operations.reportSpun(t, sum)
	}
}
