// Threads that spin go on: who lets them, and what is reported of it.

package sim

import (
	"cmp"
	"slices"

	"lime/internal/engine"
	"lime/internal/section"
	"lime/internal/unit"
)

// waking lets threads go on that spin, when what they wait for has happened.
type waking struct {
	barriers   *barriers
	clocks     *clocks
	locks      *locks
	loops      *loops
	memory     *memory
	operations *operations
	passPoints *passPoints
	spinners   *spinners
	precedence *precedence
	rounds     *rounds
	segments   *segments
	trials     *trials
	waits      *waits
	eng        *engine.Engine
	cores      *cores
	rec        *section.Recogniser
	end        *end
	tickets    *tickets
	queues     *queues
	handed     map[uint64]bool // by the program's own place: what threads wait for there is handed from one to the next
}

// wakeSpinners looks whether what t has just done ends somebody's spinning. On their way out of the
// loop they may release others, as in a tree of flags: it is t's arrival that lets them all go, and
// perhaps t itself.
func (wk *waking) wakeSpinners(t *thread) {
	defer wk.looked(t)
	if len(wk.spinners.parked) == 0 || wk.end.over {
		return
	}
	parts := wk.rec.Parts(t.id)
	wk.spinners.glance(wk.memory)
	left := wk.wakeDue(t, false)
	for more := left; len(more) > 0; {
		more = wk.wakeDue(t, true)
		left = append(left, more...)
	}
	wk.resumeWoken(left, t)
	if wk.rec.Parts(t.id) != parts {
		t.pass = nil // it has opened what it came past for
	}
}

// looked notes that it has been looked whether t has let others go.
func (wk *waking) looked(t *thread) {
	t.checked = t.now()
	if t.ctx != nil {
		t.retired = wk.eng.Retired(t.ctx)
	}
}

// wakeDue wakes those whose loops see something new. Who gets there first is a matter of luck
// natively; here it is who has waited for longest, as that is nobody's advantage.
func (wk *waking) wakeDue(by *thread, self bool) (left []*spinner) {
	parked := wk.spinners.parked
	wk.spinners.parked = nil
	slices.SortStableFunc(parked, func(a, b *spinner) int { return cmp.Compare(a.t.inLine, b.t.inLine) })
	var still []*spinner
	for _, s := range parked {
		switch {
		case !self && s.t == by || !wk.loops.changed(s):
			still = append(still, s)
		case s.held() && by != nil && by.now() > s.until: // it may have left by itself meanwhile
			wk.resumeOwn(s)
		default:
			s.later = !s.stands(wk.memory)
			if wk.tryWake(s, by, len(left)) {
				left = append(left, s)
			} else {
				still = append(still, s)
			}
		}
	}
	wk.spinners.parked = append(still, wk.spinners.parked...)
	return left
}

// tryWake lets a spinning thread run again, from the moment at which by came past
// the pass point, or from now. It answers false if the thread is still in its loop.
func (wk *waking) tryWake(s *spinner, by *thread, before int) bool {
	t, at := s.t, wk.clocks.latest
	since := t.entered()
	if by != nil {
		at = by.now()
		if by.gave != 0 {
			at = by.gave + uint64(before)
		}
		if by.letsGo(s.point) && s.tried != s.object && !wk.passPoints.pointAt(s.point).lock {
			at = by.pass.at
		}
		if free := wk.locks.givenBack(s); free > since {
			at = min(at, free)
		}
	}
	s.woken = max(since, at)
	saw := wk.precedence.changedIn(s, by)
	if (s.reported || s.held() || t.covered()) && wk.trials.staysIn(s, s.woken) {
		return false
	}
	t.heard, t.lined = s.woken, wk.eng.Retired(t.ctx)
	wk.precedence.sawChange(s, by, saw)
	if p := wk.passPoints.points[s.point]; p != nil && len(saw) > 0 {
		p.ordered = true
	}
	if by != nil && by.gave != 0 {
		wk.precedence.waitedAt(by.gaveAt)
	}
	wk.locks.tookLock(t)
	t.blocked, t.spin = false, nil
	t.still.suspect = len(saw) == 0 // many who are let go wait again at once
	if s.held() && !s.reported && t.covered() {
		t.waitsOn, t.at = waitsInner, s.woken
	}
	if t.core != nil {
		wk.cores.resume(t.core, s.woken)
	} else {
		t.readyAt = max(t.at, s.woken)
		t.at = t.readyAt
	}
	return true
}

// entered is the clock from which on a spinning thread may go on. A core runs ahead of the others
// for a while; but in a call in which all is waiting a thread does nothing, since it was last heard
// of, that it would not have done with what it waits for sooner.
func (t *thread) entered() uint64 {
	n := len(t.frames)
	switch {
	case t.idle:
		return min(t.now(), t.heard)
	case n > 0 && t.frames[n-1].waits():
		return min(t.now(), max(t.frames[n-1].at, t.heard))
	}
	return t.now()
}

// letsGo reports whether what t has done since it was looked at last began at a pass point: then it
// came past there to let others go. A lock is passed when it is taken, and given back later.
func (t *thread) letsGo(point uint64) bool {
	return point != 0 && t.pass != nil && t.pass.pc == point && t.pass.at >= t.checked
}

// resumeWoken tells that spinning threads go on: first who released them, all at once, then that
// they have left.
func (wk *waking) resumeWoken(list []*spinner, by *thread) {
	wk.reportSpinReleases(list, by)
	for _, s := range list {
		s.takes = wk.tickets.called(s, by) || wk.queues.letIn(s, by) || s.takes
		if s.reported {
			wk.reportSpinEnd(s)
		} else {
			wk.waits.reportWake(s.t)
		}
		if s.t.core == nil {
			wk.cores.place(s.t)
		}
	}
}

func (wk *waking) reportSpinEnd(s *spinner) {
	t := s.t
	if p := wk.passPoints.points[s.point]; p != nil {
		p.leave(s)
	}
	t.waitsOn = waitsNot
	op := t.simple(section.OpWaitEnd, 0)
	op.At = unit.Cycles(s.woken)
	op.Lock = !wk.rec.Ended(t.id)
	if p := wk.passPoints.points[s.point]; p != nil {
		p.lock = op.Lock
	}
	wk.operations.feed(op)
	t.segment.at = s.woken // what it did on its way to the loop is in it, too
	if op.Lock && s.call != 0 {
		t.note(s.kind(), s.call, s.woken-min(s.woken, t.waitAt))
	}
}

// reportSpinReleases tells of one release for each object; locks that the program built are none.
func (wk *waking) reportSpinReleases(list []*spinner, by *thread) {
	together := atOnce(list)
	var order []*spinner
	woken := map[uint64][]section.ThreadID{}
	for _, s := range list {
		if !s.reported || s.t == by || s.tried != 0 && s.tried == s.object || s.contends || wk.handedOn(s, by, together) {
			continue
		}
		if woken[s.object] == nil {
			order = append(order, s)
		}
		woken[s.object] = append(woken[s.object], s.t.id)
	}
	for _, s := range order {
		wk.reportSpinRelease(by, s.object, s.point, woken[s.object])
	}
}

func (wk *waking) reportSpinRelease(by *thread, object, point uint64, woken []section.ThreadID) {
	if by == nil || by.gone || by.ended || by.ctx == nil {
		return
	}
	op := by.simple(section.OpRelease, object)
	op.Woken = woken
	if by.waitsOn == waitsReported { // it came last, and waits for those whom it has let go
		wk.operations.feed(op)
		return
	}
	if by.letsGo(point) {
		if !by.pass.cut {
			cut := wk.segments.cutAtPass(by, section.OpRelease)
			op.Site, op.Span = cut.Site, cut.Span
		}
		op.At = unit.Cycles(by.pass.at)
		wk.operations.feed(op) // its next segment began where it came past; it may have come far since
		return
	}
	cut, _ := wk.segments.cutOp(by, section.OpRelease)
	op.Site, op.Span = cut.Site, cut.Span
	wk.segments.reportOpening(by, op)
}

// resumeFirst lets those go on that do so first by themselves, as nobody else does anything; a
// time-out of the program's own may come before.
func (wk *waking) resumeFirst() bool {
	first, timed := ^uint64(0), ^uint64(0)
	for _, s := range wk.spinners.parked {
		switch {
		case s.held():
			first = min(first, s.due(wk.cores))
		case s.loop.Clock:
			timed = min(timed, s.until)
		}
	}
	if at, ok := wk.memory.proc.NextDeadline(); ok && wk.clocks.clock(at) <= timed {
		timed = never
	}
	if timed <= first && timed != never {
		return wk.lookAtClock(timed)
	}
	return wk.resumeHeld(first)
}

// resumeDue lets those go on, or look at the clock, that do so before a clock.
func (wk *waking) resumeDue(clock uint64) (any bool) {
	looked := wk.lookAtClock(clock)
	return wk.resumeHeld(clock) || looked
}

// resumeHeld lets those go on, each at its own clock, that may leave their loops by themselves
// before a clock: nothing shows that they wait. Those that give their cores away by then do so. It
// reports whether there were any.
func (wk *waking) resumeHeld(clock uint64) (any bool) {
	wk.spinners.parked = slices.DeleteFunc(wk.spinners.parked, func(s *spinner) bool {
		if !s.held() || s.due(wk.cores) > clock {
			return false
		}
		any = true
		if s.yields(wk.cores, clock) {
			wk.cores.give(s.t, s.due(wk.cores))
			return false
		}
		wk.resumeOwn(s)
		return true
	})
	return any
}

// lookAtClock lets those look at the clock who would do so before one: who leaves its loop has waited
// until then. It reports whether there were any.
func (wk *waking) lookAtClock(clock uint64) (any bool) {
	parked := wk.spinners.parked
	wk.spinners.parked = nil
	var still, left []*spinner
	for _, s := range parked {
		if !s.loop.Clock || s.until > clock {
			still = append(still, s)
			continue
		}
		any, s.woken = true, s.until
		if wk.trials.staysIn(s, s.until) {
			s.looksLater()
			still = append(still, s)
			continue
		}
		t := s.t
		t.heard, t.lined = s.woken, wk.eng.Retired(t.ctx)
		t.blocked, t.spin = false, nil
		t.readyAt = max(t.at, s.woken)
		t.at = t.readyAt
		left = append(left, s)
	}
	wk.spinners.parked = append(still, wk.spinners.parked...)
	wk.resumeWoken(left, nil)
	return any
}

// resumeOwn lets a held thread go on where it was.
func (wk *waking) resumeOwn(s *spinner) {
	s.t.blocked, s.t.spin = false, nil
	s.t.still.skip = 1
	s.lapses()
	if s.t.core != nil {
		wk.cores.resume(s.t.core, 0)
		return
	}
	s.t.readyAt = s.t.at
	wk.cores.place(s.t)
}

// interrupted lets those go on that have a signal to handle.
func (wk *waking) interrupted() (any bool) {
	parked := wk.spinners.parked
	wk.spinners.parked = nil
	for _, s := range parked {
		if !wk.memory.proc.Interrupted(s.t.g) {
			wk.spinners.parked = append(wk.spinners.parked, s)
			continue
		}
		any = true
		t := s.t
		t.blocked, t.spin = false, nil
		s.woken = max(t.now(), wk.clocks.latest)
		if t.core != nil {
			wk.cores.resume(t.core, s.woken)
		} else {
			t.readyAt, t.at = s.woken, s.woken
			wk.cores.place(t)
		}
		if s.reported {
			wk.reportSpinEnd(s)
		} else {
			wk.waits.reportWake(t)
		}
	}
	return any
}

// seeChanges wakes those whose loops see what the system, or another process, has changed.
func (wk *waking) seeChanges() bool {
	wk.spinners.glance(wk.memory)
	left := wk.wakeDue(nil, true)
	wk.resumeWoken(left, nil)
	return len(left) > 0
}

// outsiders reports whether somebody spins on memory that another process may change.
func (wk *waking) outsiders() bool {
	for _, s := range wk.spinners.parked {
		for i := range s.loop.Watches {
			if m, ok := wk.memory.proc.Mapping(s.loop.Watches[i].Addr); ok && m.Shared {
				return true
			}
		}
	}
	return false
}
