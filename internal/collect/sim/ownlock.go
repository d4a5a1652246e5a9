package sim

import (
	"lime/internal/collect/spin"
	"lime/internal/cpu"
	"lime/internal/section"
	"lime/internal/unit"
)

// Locks that the program built itself exclude in simulated time, too. A core runs ahead of the
// others for a while, and may take and give back a lock meanwhile that others find free at an
// earlier clock. So a lock that threads were seen to wait for is free no earlier than when it was
// last given back: lime stops at the store that does so.

// ownLock is such a lock.
type ownLock struct {
	object  uint64
	bytes   int
	free    uint64 // what it holds when nobody has it
	call    uint64 // the program's own place that waits
	since   uint64 // the clock at which it was given back
	by      *thread
	holder  *thread   // who has it, as far as is known
	waiting []*thread // for their turn, who came first first
	found   bool      // the stores that give it back, as far as they are known
}

// ownLocks is the locks, and the stores that give them back.
type ownLocks struct {
	by    map[uint64]*ownLock
	gives map[uint64]bool
}

// provedLock notes that a thread has waited for what another one had taken, and goes on because it
// was given back.
func (r *run) provedLock(s *spinner) {
	x := &r.spins.locks
	if s.kind() != lockWait || x.by[s.object] != nil || s.call == 0 {
		return
	}
	for i := range s.loop.Watches {
		if w := &s.loop.Watches[i]; w.Addr == s.object {
			if v, ok := r.value(w.Addr, w.Bytes); ok && v != w.Value {
				if x.by == nil {
					x.by, x.gives = map[uint64]*ownLock{}, map[uint64]bool{}
				}
				x.by[s.object] = &ownLock{object: s.object, bytes: w.Bytes, free: v, call: s.call}
			}
			return
		}
	}
}

// lockable has t, which is about to try to take a lock, wait until that is free and all who came
// before have had it, and notes that it will have it. It reports whether t must wait.
func (r *run) lockable(t *thread) (wait bool) {
	l := r.spins.locks.by[t.tried]
	if l == nil {
		return false
	}
	if t.holds == l { // it has given it back by a store that is not known
		t.holds, l.found = nil, false
	}
	at := max(l.since, t.now())
	if first := l.first(); first != nil && first != t { // not before that one, nor before who has it gives it back
		at = max(at, t.now()+1, first.now())
		if h := l.holder; h != nil && !h.gone && h.holds == l {
			at = max(at, h.now())
		}
	}
	if at > t.now() {
		l.queue(t)
		t.turn += at - t.now()
		r.advance(t, at)
		return true
	}
	r.turnCame(t, l)
	if v, ok := r.value(l.object, l.bytes); ok && v == l.free {
		t.holds, t.queues, l.holder = l, nil, t
	} else {
		l.queue(t)
	}
	return false
}

// queue notes that t is one of those who want a lock. Who gets it when it is given back is a matter
// of luck natively; here it is who came first, as that is nobody's advantage.
func (l *ownLock) queue(t *thread) {
	if t.queues != l {
		t.queues, t.wanted = l, t.busy
		l.waiting = append(l.waiting, t)
	}
}

// patience is how many instructions a thread may have done since it last wanted a lock and still be
// one of those who want it.
const patience = 2000

// first is who has wanted the lock for longest, nil if nobody does.
func (l *ownLock) first() *thread {
	for len(l.waiting) > 0 {
		t := l.waiting[0]
		wants := t.queues == l && !t.gone && t.busy < t.wanted+patience && (!t.blocked || t.spin != nil && t.spin.object == l.object)
		if wants {
			return t
		}
		if t.queues == l {
			t.queues = nil
		}
		l.waiting = l.waiting[1:]
	}
	return nil
}

// turnCame ends t's wait for its turn, if it has waited for it beside spinning.
func (r *run) turnCame(t *thread, l *ownLock) {
	if t.turn == 0 {
		return
	}
	op := t.simple(section.OpLockBegin, l.object)
	op.At -= unit.Cycles(t.turn)
	r.feed(op)
	r.feed(t.simple(section.OpLockEnd, l.object))
	t.note(lockWait, l.call, t.turn)
	t.turn = 0
}

// anothersTurn reports whether another thread than the one that spins is to have the lock next:
// then it need not look.
func (r *run) anothersTurn(s *spinner) bool {
	l := r.spins.locks.by[s.object]
	if l == nil || s.tried != s.object {
		return false
	}
	l.queue(s.t)
	return l.first() != s.t
}

// gives notes that t is about to give its lock back.
func (r *run) gives(t *thread, pc uint64) {
	l := t.holds
	if l == nil || !r.spins.locks.gives[pc] {
		return
	}
	if in, ok := r.decode(pc); ok && spin.Address(&in, pc, &spin.Head{Regs: t.ctx.GPR, FSBase: t.ctx.FSBase}) == l.object {
		l.since, l.by, t.holds = t.now(), t, nil
	}
}

// findGiving runs t block by block until it gives its lock back, and notes the store that does so.
func (r *run) findGiving(t *thread, budget int64) (cpu.Exit, uint64) {
	l := t.holds
	for done := uint64(0); ; {
		h, known := r.headOf(t)
		exit, n := r.step(t, 1)
		done += n
		v, ok := r.value(l.object, l.bytes)
		switch {
		case !ok:
			t.holds = nil
		case v == l.free && done > n: // the first block takes it
			l.since, l.by, t.holds = t.now(), t, nil
			if known {
				r.learnGiving(l, &h)
			}
		case v != l.free && exit.Reason == cpu.ExitBudget && done < uint64(budget):
			continue
		case v == l.free && exit.Reason == cpu.ExitBudget:
			continue
		}
		return exit, done
	}
}

func (r *run) learnGiving(l *ownLock, h *spin.Head) {
	if r.spins.follow == nil {
		return
	}
	if pc := r.spins.follow.Stores(h, l.object); pc != 0 {
		r.spins.locks.gives[pc] = true
		r.setProbe(pc)
		l.found = true
	}
}

// givenBack is the clock at which by has given back the lock that a thread spins for, 0 if it has
// not.
func (r *run) givenBack(s *spinner, by *thread) uint64 {
	if l := r.spins.locks.by[s.object]; l != nil && l.by == by && s.tried == s.object {
		return l.since
	}
	if n := len(s.t.frames); n > 0 && s.t.covered() {
		if lock := s.t.frames[n-1].object; r.holders[lock] == nil {
			return r.locks[lock]
		}
	}
	return 0
}
