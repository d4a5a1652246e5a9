// How threads get back into the program's own code after a wait.

package sim

import (
	"lime/internal/origin"
	"lime/internal/section"
)

// waitOver tells the end of a wait. If it ended a section, what the thread did in it is dropped; if
// it was for work to do, it is no event either: that time is idleness of the section, with what its
// function has executed meanwhile. It reports whether it was that.
func (sg *segments) waitOver(t *thread, stack []frameRef) (idle bool) {
	waited := t.at - min(t.at, t.waitAt)
	t.waitsOn = waitsNot
	kind := t.wake.waitedFor()
	op := t.simple(section.OpWaitEnd, 0)
	op.Idle = !t.untyped
	op.Lock = t.untyped && !kind.outside()
	sg.operations.feed(op)
	if sg.rec.Ended(t.id) {
		sg.begin(t, outCall, stack)
		sg.restartOnReturn(t, stack)
		return false
	}
	if op.Idle {
		sg.forget(t, outCall)
	}
	sg.resume(t, stack)
	if call := sg.places.site(0, stack).Place(); call != 0 && waited > 0 && !op.Idle {
		t.note(kind, uint64(call), waited)
	}
	return op.Idle
}

// reportOpening tells of a release. If that ends a section, the releasing thread's next one starts
// when it is back in the program's own code.
func (sg *segments) reportOpening(by *thread, op section.Op) {
	before := sg.rec.Parts(by.id)
	sg.operations.feed(op)
	if sg.rec.Parts(by.id) != before {
		sg.restartOnReturn(by, sg.places.stack(by))
		sg.restartWhereMet(by, sg.roster.threads[op.Woken[0]])
	}
}

// restartOnReturn starts the segment under way anew as soon as the thread is back in the program's
// own code: how a runtime gets out of a wait says nothing about the section that follows, and
// differs between those that waited and the one that came last.
func (sg *segments) restartOnReturn(t *thread, stack []frameRef) {
	if sg.images.own(t.ctx.RIP) {
		return
	}
	if t.restart = sg.places.ownReturn(stack); t.restart != nil {
		sg.probes.setProbe(t.restart.ret)
	}
}

// restartWhereMet starts the segment under way anew, too, where those come home whom the thread has
// released, if it passes there soon: all then start at the same place.
func (sg *segments) restartWhereMet(t, waiter *thread) {
	const soon = 2000
	if waiter.ctx == nil || sg.images.own(waiter.ctx.RIP) {
		return
	}
	if h := sg.places.ownReturn(waiter.segment.stack); h != nil {
		t.meet, t.meetBy = h.ret, t.busy+soon
		sg.probes.setProbe(h.ret)
	}
}

// restartAt reports the return that comeHome waits for.
func (sg *segments) restartAt(t *thread, pc, sp uint64) {
	h := t.restart
	switch {
	case h != nil && h.ret == pc && h.cfa == sp:
		meet := t.meet
		sg.begin(t, outWay, sg.places.stack(t))
		t.meet = meet
	case t.meet == pc && t.busy <= t.meetBy:
		sg.begin(t, outWay, sg.places.stack(t))
	}
}

// arrives starts a new thread's first segment anew, until it has come to the program's own code.
func (sg *segments) arrives(t *thread, n uint64) {
	if !sg.images.own(t.ctx.RIP) {
		return
	}
	name, _ := sg.images.function(t.ctx.RIP)
	inside := t.birth == bornInWrapper
	switch t.wrapped += n; {
	case inside && t.wrapped > wrapperLength:
		t.birth = bornAtHome
		return
	case !origin.LanguageFunction(name):
		t.birth = bornAtHome
	case inside:
		return
	default:
		t.birth, t.wrapped = bornInWrapper, 0
	}
	sg.begin(t, outWay, sg.places.stack(t))
}

// wrapperLength is how many instructions such a wrapper may have.
const wrapperLength = 300
