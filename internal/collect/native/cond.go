package native

import (
	"math"
	"slices"

	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/section"
	"lime/internal/unit"
)

// conditions are waits for other threads: for condition variables, and in calls of futex(2) that
// the program makes itself.
type conditions struct {
	clocks     *clocks
	locks      *locks
	operations *operations
	out        *output
	places     *places
	program    *program
	rec        *section.Recogniser

	waiters  map[uint64][]*thread
	meetings map[uint64]*meeting // by futex
	heard    hearings
	byTurns  map[waitPlace]bool // threads take turns there
}

// enterCond begins a wait for a condition variable. Its end shows in the thread's coming back to a
// CPU, or in the next thing that the thread does.
func (cs *conditions) enterCond(t *thread, h *hook.Record, at uint64) {
	cs.beginWait(t, h, at, false)
}

func (cs *conditions) beginWait(t *thread, h *hook.Record, at uint64, untyped bool) {
	if t.covered() || t.idle {
		return
	}
	from := cs.places.site(h).from()
	if t.arriving.holds(from, t.cpu.at(at)) {
		t.piece.tail = t.lastLock
	}
	t.comesSpinning(at)
	op := cs.operations.arrival(t, section.OpWaitBegin, h, at, h.Arg0)
	op.Untyped = untyped
	cs.operations.feed(op)
	t.cond = condWait{on: true, since: at, object: h.Arg0, untyped: untyped, from: from, call: uint64(op.Site.Place())}
	cs.waiters[h.Arg0] = append(cs.waiters[h.Arg0], t)
}

// enterFutex takes a call of futex(2) that the program makes itself, or a library other than the C
// library: barriers and latches of C++20, whatever Rust's standard library synchronises with.
func (cs *conditions) enterFutex(t *thread, h *hook.Record, at uint64) {
	const wait, wake, waitBitset, wakeBitset, command = 0, 1, 9, 10, 0x7f // futex(2), "Futex operations"
	s := cs.places.site(h)
	switch h.Arg1 & command {
	case wait, waitBitset:
		if s.lock {
			t.lock = lockCall{*h, at}
			return
		}
		cs.beginWait(t, h, at, !s.named)
		if t.cond.on {
			cs.waitsInTurn(t, cs.meets(t, h), h)
		}
	case wake, wakeBitset:
		if s.lock {
			cs.locks.unlocked(t, h, at)
			return
		}
		n := int(int32(h.Arg1 >> 32))
		if n == math.MaxInt32 && !t.covered() && !t.idle {
			m := cs.meets(t, h)
			cs.passes(t, m, at)
			cs.arriveUnseen(t, m, h.Arg0, at)
		}
		cs.meetings[h.Arg0].givesPermit(t, h.Arg0, at)
		cs.wakeSome(t, h, at, n)
		cs.meetings[h.Arg0].wakesBy(t)
	}
}

func (cs *conditions) leaveFutex(t *thread, h *hook.Record, at uint64) {
	if l := &t.lock; l.at != 0 && l.h.SP == h.SP {
		cs.leaveLock(t, l, at)
		l.at = 0
	}
	if t.cond.on {
		cs.condOver(t, nil, at)
	}
}

// leaveLock is the end of a wait for a lock. Who was woken at a barrier takes its lock before he
// goes on: that is waiting for the barrier, too. And so is the wait for the lock of who is about to
// wait for others in the same call, should that wait end a section.
func (cs *conditions) leaveLock(t *thread, l *lockCall, at uint64) {
	if !t.home.holds(cs.places.site(&l.h).from(), t.cpu.at(l.at)) {
		t.lastLock = cs.locks.waitedForLock(t, &l.h, l.at, at)
		t.arriving = homeward{cs.places.site(&l.h).from(), t.cpu.at(at)}
		return
	}
	cs.rec.Resume(t.id, unit.Cycles(at))
	t.begin(at)
	t.home.cpu = t.cpu.at(at)
}

// condOver ends a wait for a condition; by is who is known to have let the thread go on, nil if
// nobody is.
func (cs *conditions) condOver(t, by *thread, at uint64) {
	object := t.cond.object
	if by == nil {
		cs.heard.unsure(object)
	}
	cs.meetings[object].letGo(t, by)
	cs.meetings[object].getsPermit(t, by, at)
	op := t.op(section.OpWaitEnd, at)
	op.Idle = !t.cond.untyped
	from := t.cond.from
	if w := &t.off.now; w.from != 0 && !w.forced { // it has been woken, and has no core yet
		t.cond.waited += cs.clocks.pace.now - w.pace
		w.from, w.forced = at, true
		cs.clocks.pace.set(&t.paced, false, true)
	}
	if by != nil {
		t.cond.waited = t.letGo(by, at)
		cs.out.letGo(t, by, at)
	}
	t.line.waits(t.cond.waited)
	t.forWork = offWait{cs.waitedFor(object, by), t.cond.call, 1, t.cond.waited}
	t.cond = condWait{}
	cs.dropWaiter(object, t)
	cs.operations.feed(op)
	if cs.rec.Ended(t.id) {
		t.begin(at)
		t.home = homeward{from, t.cpu.at(at)}
	}
}

func (cs *conditions) dropWaiter(object uint64, t *thread) {
	list := cs.waiters[object]
	for i, w := range list {
		if w == t {
			list = append(list[:i], list[i+1:]...)
			break
		}
	}
	if len(list) == 0 {
		delete(cs.waiters, object)
	} else {
		cs.waiters[object] = list
	}
}

// wake ends the waits of others: of all, or of the one that has waited longest.
func (cs *conditions) wake(t *thread, h *hook.Record, at uint64) {
	n := 1
	if cs.program.table[h.Func].Role == known.CondWakeAll {
		n = len(cs.waiters[h.Arg0])
	}
	cs.heard.tells(h.Arg0, len(cs.waiters[h.Arg0]) > 0, cs.program.prog == nil)
	cs.wakeSome(t, h, at, n)
}

// wakeSome ends the waits of those n that have waited longest.
func (cs *conditions) wakeSome(t *thread, h *hook.Record, at uint64, n int) {
	list := cs.waiters[h.Arg0]
	if t.covered() || len(list) == 0 || n <= 0 {
		return
	}
	list = slices.Clone(list[:min(n, len(list))])
	op := cs.operations.arrival(t, section.OpRelease, h, at, h.Arg0)
	for _, w := range list {
		op.Woken = append(op.Woken, w.id)
	}
	op.Through, op.Peer = cs.places.through(t, h, list), cs.heard[h.Arg0].unheard || cs.inTurn(h.Arg0)
	cs.operations.feed(op)
	for _, w := range list { // from now on they have something to do, whenever they get a core for it
		cs.condOver(w, t, at)
	}
	if list = slices.DeleteFunc(list, func(w *thread) bool { return !cs.rec.Ended(w.id) }); len(list) > 0 {
		meetOnLine(append(list, t), at)
	}
}
