package sim

import (
	"lime/internal/cpu"
	"lime/internal/guest"
	"lime/internal/section"
	"lime/internal/unit"
)

// ended looks whether what t has just done ends somebody's spinning. On their way out of the loop they may release
// others, as in a tree of flags: it is t's arrival that lets them all go, and perhaps t itself.
func (r *run) ended(t *thread) {
	if len(r.spins.parked) == 0 || r.end.over {
		return
	}
	parts := r.rec.Parts(t.id)
	left := r.wakeDue(t, false)
	for more := left; len(more) > 0; {
		more = r.wakeDue(t, true)
		left = append(left, more...)
	}
	r.left(left, t)
	if r.rec.Parts(t.id) != parts {
		t.pass = nil // it has opened what it came past for
	}
}

// wakeDue wakes those whose loops see something new, or have counted long enough.
func (r *run) wakeDue(by *thread, self bool) (left []*spin) {
	parked := r.spins.parked
	r.spins.parked = nil
	var still []*spin
	for _, s := range parked {
		due := (self || s.t != by) && (r.changed(s) || s.bounded && r.latest > s.since+boundedPark)
		if due && r.wake(s, by) {
			left = append(left, s)
		} else {
			still = append(still, s)
		}
	}
	r.spins.parked = append(still, r.spins.parked...)
	return left
}

// wake lets a spinning thread run again, from the moment at which by came past
// the pass point, or from now. It answers false if the thread is still in its loop.
func (r *run) wake(s *spin, by *thread) bool {
	t := s.t
	at := by.now()
	if p := by.pass; p != nil && s.told {
		at = p.at
	}
	s.woken = max(t.at, at)
	if s.bounded && !r.changed(s) {
		t.still.skip = 1 << maxSkip
	} else if s.told && r.staysIn(t, s, s.woken) {
		return false
	}
	t.blocked, t.spin = false, nil
	t.readyAt = max(t.at, s.woken)
	t.at = t.readyAt
	return true
}

// staysIn runs a thread for a moment, beside the cores, to see whether it leaves its loop. If not, it goes
// on waiting as if nothing had happened.
func (r *run) staysIn(t *thread, s *spin, at uint64) bool {
	was, busy, latest := t.at, t.busy, r.latest
	t.core = &core{n: max(t.lastCore, 0), clock: at, heapPos: -1}
	left := r.tryOut(t)
	t.at, t.core = t.core.clock, nil
	p := &piece{}
	r.drain(t, p)
	if left || !s.heads[t.ctx.RIP] || r.strayed(s, p) {
		t.keepFor(p)
		return false
	}
	for i := range s.watches {
		w := &s.watches[i]
		w.value, _ = r.value(w.addr, w.n)
	}
	s.since = t.at
	t.at, t.busy, r.latest = was, busy, latest // or each look would let it leave so much later
	return true
}

// strayed reports whether a piece holds anything but a loop: a thread may have left it, and come to it again for
// something else.
func (r *run) strayed(s *spin, p *piece) bool {
	edges := r.eng.Edges()
	for _, e := range p.edges {
		if from := edges[e.id].From; from >= 0 && !s.blocks[from] {
			return true
		}
	}
	return false
}

// tryOut runs t up to what no loop does; that is left for its next turn.
func (r *run) tryOut(t *thread) (left bool) {
	for budget := int64(trialLength); budget > 0; {
		exit, n := r.step(t, budget)
		budget -= int64(n)
		switch {
		case exit.Reason == cpu.ExitBudget:
			return false
		case exit.Reason == cpu.ExitSyscall && t.ctx.GPR[rax] == sysSchedYield:
			r.guarded(t, func() guest.Outcome { return r.proc.HandleSyscall(t.g) })
		default:
			t.pending = &exit
			return true
		}
	}
	return false
}

// left tells that spinning threads go on: first who released them, all at once, then that they have left.
func (r *run) left(list []*spin, by *thread) {
	r.tellSpinReleases(list, by)
	for _, s := range list {
		if s.told {
			r.tellLeft(s)
		} else {
			r.tellWake(s.t)
		}
		r.cores.place(s.t)
	}
}

func (r *run) tellLeft(s *spin) {
	t := s.t
	if p := r.spins.points[s.point]; p != nil {
		p.waiting--
	}
	t.waitsOn = waitsNot
	op := t.simple(section.OpWaitEnd, 0)
	op.At = unit.Cycles(s.woken)
	op.Lock = !r.rec.Ended(t.id)
	r.feed(op)
	t.piece.at = s.woken
	if op.Lock && s.call != 0 {
		t.noteLock(s.call, s.woken-min(s.woken, t.waitAt))
	}
}

// tellSpinReleases tells of one release for each object; locks that the program built are none.
func (r *run) tellSpinReleases(list []*spin, by *thread) {
	woken, order := map[uint64][]section.ThreadID{}, []uint64{}
	for _, s := range list {
		if !s.told || s.t == by || s.tried != 0 && s.tried == s.object {
			continue
		}
		if woken[s.object] == nil {
			order = append(order, s.object)
		}
		woken[s.object] = append(woken[s.object], s.t.id)
	}
	for _, object := range order {
		r.tellSpinRelease(by, object, woken[object])
	}
}

func (r *run) tellSpinRelease(by *thread, object uint64, woken []section.ThreadID) {
	if by.gone || by.ended || by.ctx == nil {
		return
	}
	op := by.simple(section.OpRelease, object)
	op.Woken = woken
	if by.waitsOn == waitsTold { // it came last, and waits for those whom it has let go
		r.feed(op)
		return
	}
	if by.pass == nil {
		cut, _ := r.cutOp(by, section.OpRelease)
		op.Site, op.Span = cut.Site, cut.Span
		by.pass = &passage{at: by.now()}
	} else {
		op.At = unit.Cycles(by.pass.at)
	}
	r.tellOpening(by, op)
}

// unpark lets everybody loose when nothing else can run; false if that has been tried in vain.
func (r *run) unpark() bool {
	if len(r.spins.parked) == 0 || r.work() < r.spins.tried {
		return false
	}
	r.spins.tried = r.work() + uint64(len(r.spins.parked)+1)*10*soloLength
	parked := r.spins.parked
	r.spins.parked = nil
	for _, s := range parked {
		t := s.t
		t.blocked, t.spin = false, nil
		t.readyAt = max(t.at, r.latest)
		t.at = t.readyAt
		t.still.skip = 1 << maxSkip
		s.woken = t.at
		if s.told {
			r.tellLeft(s)
		} else {
			r.tellWake(t)
		}
		r.cores.place(t)
	}
	return true
}

// drop forgets a thread that is gone.
func (x *spinTable) drop(t *thread) {
	for i, s := range x.parked {
		if s.t == t {
			x.parked = append(x.parked[:i:i], x.parked[i+1:]...)
			return
		}
	}
}
