// What of a thread's counts goes on in the segment under way, and what is spent on waiting.

package sim

import (
	"lime/internal/section"
)

// keep takes what the counters hold into the segment under way, but for what is spent on waiting.
func (sg *segments) keep(t *thread) {
	p := &segment{}
	sg.drain(t, p)
	sg.keepWorked(t, p)
}

// keepWorked lets a segment's counts go on in the segment under way, but for what is spent on
// waiting.
func (sg *segments) keepWorked(t *thread, p *segment) {
	if n := len(t.frames); n > 0 && t.frames[n-1].slow {
		sg.keepReturn(t, p, &t.frames[n-1])
		return
	}
	t.keepFor(p)
}

// keepReturn forgets what was counted in a call that waits, but for the return from it.
func (sg *segments) keepReturn(t *thread, p *segment, c *call) {
	sg.without(t, outCall, p.edges)
	for _, e := range p.edges {
		if sg.places.returnsTo(e.id, c.ret) {
			t.carries(edgeCount{e.id, 1})
		}
	}
}

// dropSlow forgets what was counted in such a call, but for the return from it.
func (sg *segments) dropSlow(t *thread, c *call) {
	p := &segment{}
	sg.drain(t, p)
	sg.keepReturn(t, p, c)
	if t.goroutine == nil {
		t.busy = min(t.busy, c.busy)
	}
}

// dropReturn takes one return to an address out of a segment.
func (sg *segments) dropReturn(p *segment, ret uint64) {
	for i := range p.edges {
		if e := &p.edges[i]; e.n > 0 && sg.places.returnsTo(e.id, ret) {
			e.n--
			return
		}
	}
}

// lessSpinning takes what t went round known loops since its last operation out of its counts.
func (sg *segments) lessSpinning(t *thread) {
	p := &segment{candidate: t.watchedCandidate()}
	if sg.beside != nil { // what was counted while it was followed round its loop is there
		p.edges, t.carry = t.carry, nil
	}
	sg.drain(t, p)
	if units := sg.rounds.takeSpinning(t, p); units > 0 {
		sg.operations.reportSpun(t, units)
	}
	t.keepFor(p)
	t.locks = append(t.locks, p.locks...)
}

// dropLoop takes the loop out of the counters of the segment under way: the call in which it is has
// waited so long.
func (sg *segments) dropLoop(t *thread, s *spinner) {
	p := &segment{}
	sg.drain(t, p)
	taken, units := sg.rounds.removeLoop(p, s)
	sg.without(t.acting(), outLoop, taken)
	units = min(t.busy, units)
	t.busy -= units
	t = t.acting()
	if n := len(t.frames); n > 0 {
		t.frames[n-1].waited += units
	}
	sg.keepWorked(t, p)
}

// enterPoll begins to wait, as far as is known: a segment for each of a million polls would take up
// memory for nothing, so the one under way goes on.
func (sg *segments) enterPoll(t *thread, c *call) {
	p := &segment{}
	sg.drain(t, p)
	t.keepFor(p)
	sg.operations.feed(t.simple(section.OpWaitBegin, 0))
	t.waitsOn, t.untyped = waitsReported, false
	c.reported, c.slow, c.busy = true, true, t.busy
}
