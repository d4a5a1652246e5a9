package native

import (
	"lime/internal/collect/native/hook"
	"lime/internal/collect/threads"
)

// locks are waits for locks, charged to who held them meanwhile.
type locks struct {
	absences   *absences
	operations *operations
	out        *output
	places     *places
	program    *program
	shared     *shared

	unlocks releases
	table   lockTable
}

// lockWait is the waits for locks at one place in one piece.
type lockWait struct {
	call uint64 // the program's own call that takes the lock
	n    uint64
	wait uint64 // ns on the wall
	off  uint64 // ns of it off the CPU, but for want of one
	time uint64 // ns of it but for want of a CPU
}

// unlock is the release of a lock for which others waited.
type unlock struct {
	at   uint64
	from uint64 // since when it had it, if it had waited for it; else 0
	by   *thread
	row  int32  // of who gave it back
	path int32  // call path of the release
	call uint64 // the program's own call in it
}

// gotLock is the lock for which a thread waited last, until it gives it back.
type gotLock struct{ lock, at uint64 }

// releases are those of locks for which others waited, by lock.
type releases map[uint64][]unlock

// keptUnlocks is how many releases of a lock are remembered.
const keptUnlocks = 256

// locked takes in the end of a long wait for a lock.
func (lk *locks) locked(t *thread, h *hook.Record, at uint64) {
	lk.waitedForLock(t, h, at-min(lk.shared.clock.span(h.Arg1, h.TSC), at), at)
}

// waitedForLock takes in a wait for a lock that the call's first argument names.
func (lk *locks) waitedForLock(t *thread, h *hook.Record, from, at uint64) (l lockWait) {
	if t.covered() || t.idle {
		return l
	}
	away := t.cpu.offIn(from, at)
	lk.absences.offWithin(t, from, at)
	lock := lk.program.lockOf(h)
	threads.LockWait{Thread: t.id, Lock: lock, From: from, To: at}.Tell(lk.operations.feed)
	off := lk.unlocks.keptOut(t, lock, from, at)
	s := lk.places.site(h).Site
	call := lk.program.code.callBefore(h.Caller)
	if len(s.Stack) > 0 {
		call = uint64(s.Stack[s.Library].Call)
	}
	l = lockWait{call, 1, at - from, off, at - from - min(away, at-from) + off}
	t.piece.addLock(l)
	t.line.waits(off)
	path := lk.program.sitePath(s)
	lk.out.paths[pathKey{path, int32(t.id), noSection, "lock-wait"}] += float64(at - from)
	lk.table.waited(lock, lk.program.table[h.Func].Name, int32(t.id), call, path, l.time)
	lk.blame(lock, from, at)
	t.got = gotLock{lock, at}
	return l
}

func (p *piece) addLock(l lockWait) {
	for i := range p.locks {
		if k := &p.locks[i]; k.call == l.call {
			k.n, k.wait, k.off, k.time = k.n+l.n, k.wait+l.wait, k.off+l.off, k.time+l.time
			return
		}
	}
	p.locks = append(p.locks, l)
}

// forgetLock takes a wait back.
func (p *piece) forgetLock(l lockWait) {
	if l.n == 0 {
		return
	}
	for i := range p.locks {
		if k := &p.locks[i]; k.call == l.call && k.n >= l.n && k.wait >= l.wait && k.off >= l.off {
			k.n, k.wait, k.off, k.time = k.n-l.n, k.wait-l.wait, k.off-l.off, k.time-min(k.time, l.time)
		}
	}
}

// unlocked remembers who gave a lock back for which others wait.
func (lk *locks) unlocked(t *thread, h *hook.Record, at uint64) {
	if t.covered() {
		return
	}
	s := lk.places.site(h).Site
	u := unlock{at: at, by: t, row: t.row(), path: lk.program.sitePath(s), call: uint64(s.Place())}
	if t.got.lock == h.Arg0 {
		u.from = t.got.at
	}
	t.got = gotLock{}
	lk.unlocks.gaveBack(h.Arg0, u)
}

func (r releases) gaveBack(lock uint64, u unlock) {
	list := r[lock]
	if len(list) >= keptUnlocks {
		list = append(list[:0], list[keptUnlocks/2:]...)
	}
	r[lock] = append(list, u)
}

// blame charges a wait to those who held the lock meanwhile, at the places where they gave it back.
func (lk *locks) blame(lock, from, to uint64) {
	var last *unlock
	charge := func(u *unlock, until uint64) {
		lk.out.paths[pathKey{u.path, u.row, noSection, "lock-blame"}] += float64(until - from)
		lk.table.charge(lock, u, until-from)
		from = until
	}
	list := lk.unlocks[lock]
	for i := range list {
		u := &list[i]
		if u.at <= from {
			last = u
			continue
		} else if u.at > to {
			break
		}
		if u.from > from && last != nil { // before that it waited, too: who had it before gave it back late
			charge(last, u.from)
		}
		charge(u, u.at)
		last = u
	}
	if last != nil && to > from && last.at >= from {
		charge(last, to)
	}
}

// keptOut is how long a thread slept for a lock within a time while those who held it got on.
func (r releases) keptOut(t *thread, lock, from, to uint64) (ns uint64) {
	for g := range t.cpu.gaps(from) {
		if g.to == 0 || g.from < from || g.to > to || g.asleep == 0 {
			continue
		}
		g.due = g.waited
		if woken := r.freed(lock, g); woken != 0 { // else nobody knows who held it
			g.due = r.heldUp(lock, g.from, woken)
		}
		ns += g.due
	}
	return ns
}

// freed is when the lock was given back for which a thread slept that was woken then: of several
// times, as others wait for it, too, the one that agrees best with the scheduler. 0 if none is known.
func (r releases) freed(lock uint64, g *gap) (at uint64) {
	far := func(u uint64) uint64 {
		woken := g.from + g.asleep
		return max(u, woken) - min(u, woken)
	}
	for _, u := range r[lock] {
		if u.at > g.from && u.at <= g.to && (at == 0 || far(u.at) <= far(at)) {
			at = u.at
		}
	}
	return at
}

// heldUp is how long a lock kept others waiting within a time, as far as those who held it got on, one
// after the other until it was given back: on as many cores as threads nobody would have waited for
// one without a core. Who slept when his predecessor gave it back slept for it, and wanted a core
// from then on. And who gave it back last may have lost his core before he let the waiter go.
func (r releases) heldUp(lock, from, to uint64) (ns uint64) {
	until, woken := from, false
	for _, u := range r[lock] {
		if u.at > until && u.at <= to {
			ns += u.at - until - min(u.at-until, u.by.cpu.without(until, u.at, woken))
			until, woken = u.at, true
		}
	}
	if !woken { // nobody knows who held it
		return to - min(from, to)
	}
	return ns
}
