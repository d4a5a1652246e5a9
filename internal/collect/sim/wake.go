package sim

import (
	"cmp"
	"slices"

	"lime/internal/cpu"
	"lime/internal/guest"
	"lime/internal/section"
	"lime/internal/unit"
	"lime/internal/x86"
)

// ended looks whether what t has just done ends somebody's spinning. On their way out of the loop
// they may release others, as in a tree of flags: it is t's arrival that lets them all go, and
// perhaps t itself.
func (r *run) ended(t *thread) {
	defer func() { t.checked = t.now() }()
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

// wakeDue wakes those whose loops see something new. Who gets there first is a matter of luck
// natively; here it is who has waited for longest, as that is nobody's advantage.
func (r *run) wakeDue(by *thread, self bool) (left []*spinner) {
	parked := r.spins.parked
	r.spins.parked = nil
	slices.SortStableFunc(parked, func(a, b *spinner) int { return cmp.Compare(a.t.inLine, b.t.inLine) })
	var still []*spinner
	for _, s := range parked {
		switch {
		case !self && s.t == by || !r.changed(s):
			still = append(still, s)
		case s.held() && by != nil && by.now() > s.until: // it may have left by itself meanwhile
			r.resumeOwn(s)
		case r.wake(s, by, len(left)):
			left = append(left, s)
		default:
			still = append(still, s)
		}
	}
	r.spins.parked = append(still, r.spins.parked...)
	return left
}

// wake lets a spinning thread run again, from the moment at which by came past
// the pass point, or from now. It answers false if the thread is still in its loop.
func (r *run) wake(s *spinner, by *thread, before int) bool {
	t, at := s.t, r.latest
	since := t.entered()
	if by != nil {
		at = by.now()
		if by.gave != 0 {
			at = by.gave + uint64(before)
		}
		if by.letsGo(s.point) && s.tried != s.object && !r.pointAt(s.point).lock {
			at = by.pass.at
		}
		if free := r.givenBack(s); free > since {
			at = min(at, free)
		}
	}
	s.woken = max(since, at)
	saw := r.changedIn(s, by)
	if (s.told || s.held() || t.covered()) && r.staysIn(s, s.woken) {
		return false
	}
	t.heard, t.lined = s.woken, r.eng.Retired(t.ctx)
	r.sawChange(s, by, saw)
	if p := r.spins.points[s.point]; p != nil && len(saw) > 0 {
		p.ordered = true
	}
	if by != nil && by.gave != 0 {
		r.waitedAt(by.gaveAt)
	}
	r.tookLock(t)
	t.blocked, t.spin = false, nil
	t.still.suspect = len(saw) == 0 // many who are let go wait again at once
	if s.held() {
		if !s.told && t.covered() {
			t.waitsOn, t.at = waitsInner, s.woken
		}
		r.cores.resume(t.core, s.woken)
	} else {
		t.readyAt = max(t.at, s.woken)
		t.at = t.readyAt
	}
	return true
}

// givenBack is the clock at which the lock was given back for which a thread spins in a call of the
// table, 0 if it was not.
func (r *run) givenBack(s *spinner) uint64 {
	if n := len(s.t.frames); n > 0 && s.t.covered() {
		if lock := s.t.frames[n-1].object; r.holders[lock] == nil {
			return r.locks[lock]
		}
	}
	return 0
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

// staysIn runs a thread for a moment, beside the cores, to see whether it leaves its loop. If not,
// it goes on waiting as if nothing had happened. If it does, that it has waited is proved, and the
// recogniser is told.
func (r *run) staysIn(s *spinner, at uint64) bool {
	t := s.t
	before := r.cutBefore(s)
	k, was, busy, latest := t.core, t.at, t.busy, r.latest
	t.core = &core{n: max(t.lastCore, 0), clock: at, heapPos: -1}
	r.spins.insts = map[uint64]*x86.Inst{}
	left := r.tryOut(s)
	end := t.core.clock
	t.at, t.core = end, k
	p := &piece{}
	r.drain(t, p)
	if left || !s.in(t.ctx.RIP) || r.strayed(s, p) {
		r.prove(before)
		if s.passed { // the part goes from there past the loop: the last look is no part of the way, either
			taken, _ := r.removeLoop(p, s)
			r.without(t, outLoop, taken)
		}
		r.keepWorked(t, p)
		if k != nil {
			k.clock = end
		}
		return false
	}
	r.undo(before)
	r.without(t.acting(), outLoop, p.edges)
	for i := range s.loop.Watches {
		w := &s.loop.Watches[i]
		w.Value, _ = r.value(w.Addr, w.Bytes)
	}
	s.until -= min(s.until, end-at)            // it has gone round so often
	t.at, t.busy, r.latest = was, busy, latest // or each look would let it leave so much later
	return true
}

// before is the piece in front of a loop that a thread is in, cut, and not told of yet.
type before struct {
	s     *spinner
	op    section.Op
	taken []edgeCount
	busy  uint64
	start pieceStart
	hw    hardware // of the loop, and what the piece holds
	pass  *passage
}

// cutBefore cuts it; nil if the recogniser knows of the wait, or is not told of such.
func (r *run) cutBefore(s *spinner) *before {
	if s.told || !s.held() || s.t.waitsOn == waitsTold || s.t.covered() {
		return nil
	}
	t := s.t
	b := &before{s: s, busy: t.busy, start: t.piece, pass: t.pass}
	b.op, b.taken = r.cutSpin(t, s)
	return b
}

// undo joins the piece to the one that goes on, with what was taken out of it.
func (r *run) undo(b *before) {
	if b == nil {
		return
	}
	t, p := b.s.t, b.op.Span.(*piece)
	r.reopened(t, p)
	t.book.out[outLoop] -= r.instrs(b.taken)
	t.pass = nil
	t.carry = slices.Concat(p.edges, b.taken, t.carry)
	hw := p.hw
	hw.add(t.carryHW)
	t.carryHW, t.samples = hw, append(p.samples, t.samples...)
	t.off, t.earlier, t.given = p.off+t.off, p.earlier, append(p.given, t.given...)
	t.locks = append(p.locks, t.locks...)
	t.piece, t.busy = b.start, b.busy
}

// prove tells of the wait: the thread has left its loop because others have changed what it
// watches.
func (r *run) prove(b *before) {
	if b == nil {
		return
	}
	at := b.s.t.at
	r.tellSpin(b.s, b.op, b.taken)
	b.s.t.at = at
}

// strayed reports whether a piece holds anything but a loop: a thread may have left it, and come to
// it again for something else.
func (r *run) strayed(s *spinner, p *piece) bool {
	edges := r.eng.Edges()
	r.sync(s)
	for _, e := range p.edges {
		if from := edges[e.id].From; from >= 0 && !s.blocks[from] {
			return true
		}
	}
	return false
}

// Lengths of a trial, in blocks.
const (
	trialBlocks = 16   // beyond three rounds: who has not left by then goes round again
	mostTrial   = 8192 // of rounds in which the thread pauses for so long before it looks
	blocksAfter = 8    // behind the loop, in which a lock is tried for by whom it kept out
)

// tryOut runs the thread until it has left its loop, or has gone round again and looked at what has
// changed; what no loop does is left for its next turn.
func (r *run) tryOut(s *spinner) (left bool) {
	t, outside, looks := s.t, 0, r.looksAt(s)
	for n := 0; n < 3*len(s.loop.Blocks)+trialBlocks || len(looks) > 0 && n < mostTrial; n++ {
		if !s.in(t.ctx.RIP) {
			if outside++; outside > blocksAfter {
				return true
			}
			r.seesTry(s)
		}
		from := t.ctx.RIP
		exit, ran := r.stepOn(t)
		looks = slices.DeleteFunc(looks, func(pc uint64) bool { return r.ranThrough(from, pc) })
		switch {
		case exit.Reason == cpu.ExitBudget, exit.Reason == cpu.ExitProbe && ran > 0 && r.othersProbe(t):
		case exit.Reason == cpu.ExitSyscall && t.ctx.GPR[rax] == sysSchedYield:
			r.guarded(t, func() guest.Outcome { return r.proc.HandleSyscall(t.g) })
		default:
			t.pending = &exit
			r.seesTry(s)
			return true
		}
	}
	return false
}

// looksAt lists the instructions that look at what has changed for a loop.
func (r *run) looksAt(s *spinner) (pcs []uint64) {
	for i := range s.loop.Watches {
		w := &s.loop.Watches[i]
		if v, ok := r.value(w.Addr, w.Bytes); !ok || v != w.Value {
			pcs = append(pcs, w.PC)
		}
	}
	return pcs
}

// ranThrough reports whether an instruction is in the block at an address.
func (r *run) ranThrough(head, pc uint64) bool {
	id, ok := r.blocks.startingAt(head)
	return ok && pc-head < uint64(r.eng.Blocks()[id].Size)
}

// seesTry looks whether a thread that has left its loop now tries to take what it waited for: then
// that is a lock, and the instruction is where all who take it pass. If it tries to take something
// else, and goes back to its loop if it cannot, all who look may leave the loop at once, and one
// gets it: who lets them go opens no barrier.
func (r *run) seesTry(s *spinner) {
	if s.tried == s.object {
		return
	}
	h, ok := r.headOf(s.t)
	if !ok {
		return
	}
	at, word := r.spins.follow.Tries(&h)
	switch {
	case at == 0:
	case word == s.object:
		s.tried = s.object
		if s.point == 0 && r.images.own(at) {
			r.pointAt(at)
		}
	case r.leadsBack(s, at):
		s.contends = true
	}
}

// leadsBack reports whether the branch behind an instruction leads into a loop.
func (r *run) leadsBack(s *spinner, pc uint64) bool {
	const near = 8 // instructions from an attempt to the branch on its outcome
	for range near {
		in, ok := r.decode(pc)
		if !ok {
			return false
		}
		next := pc + uint64(in.Len)
		if in.Branch != x86.BranchNone {
			return s.in(next) || in.Branch == x86.BranchCond && s.in(in.Target(pc))
		}
		pc = next
	}
	return false
}

// left tells that spinning threads go on: first who released them, all at once, then that they have
// left.
func (r *run) left(list []*spinner, by *thread) {
	r.tellSpinReleases(list, by)
	for _, s := range list {
		if s.told {
			r.tellLeft(s)
		} else {
			r.tellWake(s.t)
		}
		if s.t.core == nil {
			r.cores.place(s.t)
		}
	}
}

func (r *run) tellLeft(s *spinner) {
	t := s.t
	if p := r.spins.points[s.point]; p != nil {
		p.leave(s)
	}
	t.waitsOn = waitsNot
	op := t.simple(section.OpWaitEnd, 0)
	op.At = unit.Cycles(s.woken)
	op.Lock = !r.rec.Ended(t.id)
	if p := r.spins.points[s.point]; p != nil {
		p.lock = op.Lock
	}
	r.feed(op)
	t.piece.at = s.woken // what it did on its way to the loop is in it, too
	if op.Lock && s.call != 0 {
		t.note(s.kind(), s.call, s.woken-min(s.woken, t.waitAt))
	}
}

// tellSpinReleases tells of one release for each object; locks that the program built are none.
func (r *run) tellSpinReleases(list []*spinner, by *thread) {
	var order []*spinner
	woken := map[uint64][]section.ThreadID{}
	for _, s := range list {
		if !s.told || s.t == by || s.tried != 0 && s.tried == s.object || s.contends || r.handedOn(s) {
			continue
		}
		if woken[s.object] == nil {
			order = append(order, s)
		}
		woken[s.object] = append(woken[s.object], s.t.id)
	}
	for _, s := range order {
		r.tellSpinRelease(by, s.object, s.point, woken[s.object])
	}
}

// handedOn reports whether others, who wait at the same place as one who is let go, wait on, or did
// so once: what they wait for is handed from one to the next, and is no barrier, which all leave
// together.
func (r *run) handedOn(s *spinner) bool {
	x := &r.spins
	if g := s.t.watchedGate(); g != nil && g.holds() {
		return false // flags that pass from one to the next in a function that may be a barrier
	}
	on := slices.ContainsFunc(x.parked, func(o *spinner) bool {
		return o.told && o != s && o.object != s.object && o.call == s.call && o.point == s.point
	})
	if on && x.handed == nil {
		x.handed = map[uint64]bool{}
	}
	if on {
		x.handed[s.call] = true
	}
	return x.handed[s.call]
}

func (r *run) tellSpinRelease(by *thread, object, point uint64, woken []section.ThreadID) {
	if by == nil || by.gone || by.ended || by.ctx == nil {
		return
	}
	op := by.simple(section.OpRelease, object)
	op.Woken = woken
	if by.waitsOn == waitsTold { // it came last, and waits for those whom it has let go
		r.feed(op)
		return
	}
	if by.letsGo(point) {
		if !by.pass.cut {
			cut := r.cutAtPass(by, section.OpRelease)
			op.Site, op.Span = cut.Site, cut.Span
		}
		op.At = unit.Cycles(by.pass.at)
		r.feed(op) // its next piece began where it came past; it may have come far since
		return
	}
	cut, _ := r.cutOp(by, section.OpRelease)
	op.Site, op.Span = cut.Site, cut.Span
	r.tellOpening(by, op)
}

// resumeHeld lets those go on, each at its own clock, that may leave their loops by themselves
// before a clock: nothing shows that they wait. It reports whether there were any.
func (r *run) resumeHeld(clock uint64) (any bool) {
	r.spins.parked = slices.DeleteFunc(r.spins.parked, func(s *spinner) bool {
		if !s.held() || s.until > clock {
			return false
		}
		any = true
		r.resumeOwn(s)
		return true
	})
	return any
}

// resumeOwn lets a held thread go on where it was.
func (r *run) resumeOwn(s *spinner) {
	s.t.blocked, s.t.spin = false, nil
	s.t.still.skip = 1
	r.cores.resume(s.t.core, 0)
}

// interrupted lets those go on that have a signal to handle.
func (r *run) interrupted() (any bool) {
	parked := r.spins.parked
	r.spins.parked = nil
	for _, s := range parked {
		if !r.proc.Interrupted(s.t.g) {
			r.spins.parked = append(r.spins.parked, s)
			continue
		}
		any = true
		t := s.t
		t.blocked, t.spin = false, nil
		s.woken = max(t.now(), r.latest)
		if s.held() {
			r.cores.resume(t.core, s.woken)
		} else {
			t.readyAt, t.at = s.woken, s.woken
			r.cores.place(t)
		}
		if s.told {
			r.tellLeft(s)
		} else {
			r.tellWake(t)
		}
	}
	return any
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
