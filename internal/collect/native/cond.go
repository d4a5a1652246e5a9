package native

import (
	"math"
	"slices"

	"lime/internal/collect/native/hook"
	"lime/internal/section"
)

// enterCond begins a wait for a condition variable. Its end shows in the thread's coming back to a CPU, or in
// the next thing that the thread does.
func (r *run) enterCond(t *thread, h *hook.Record, at uint64) {
	r.beginWait(t, h, at, false)
}

func (r *run) beginWait(t *thread, h *hook.Record, at uint64, untyped bool) {
	if t.covered() || t.idle {
		return
	}
	op := r.arrival(t, section.OpWaitBegin, h, at, h.Arg0)
	op.Untyped = untyped
	r.feed(op)
	t.cond = condWait{on: true, object: h.Arg0}
	r.waiters[h.Arg0] = append(r.waiters[h.Arg0], t)
}

// enterFutex takes a call of futex(2) that the program makes itself, or a library other than the C library: barriers and latches of
// C++20, whatever Rust's standard library synchronises with.
func (r *run) enterFutex(t *thread, h *hook.Record, at uint64) {
	const wait, wake, waitBitset, wakeBitset, command = 0, 1, 9, 10, 0x7f // futex(2), "Futex operations"
	switch h.Arg1 & command {
	case wait, waitBitset:
		r.beginWait(t, h, at, true)
		if t.cond.on {
			r.meets(t, h)
		}
	case wake, wakeBitset:
		n := int(int32(h.Arg1 >> 32))
		if n == math.MaxInt32 && !t.covered() && !t.idle {
			r.arriveUnseen(t, r.meets(t, h), h.Arg0, at)
		}
		r.wakeSome(t, h, at, n)
	}
}

func (r *run) leaveFutex(t *thread, _ *hook.Record, at uint64) {
	if t.cond.on {
		r.condOver(t, at)
	}
}

func (r *run) condOver(t *thread, at uint64) {
	object := t.cond.object
	t.cond = condWait{}
	r.dropWaiter(object, t)
	r.feed(t.op(section.OpWaitEnd, at))
	if r.rec.Ended(t.id) {
		t.begin(at)
	}
}

func (r *run) dropWaiter(object uint64, t *thread) {
	list := r.waiters[object]
	for i, w := range list {
		if w == t {
			list = append(list[:i], list[i+1:]...)
			break
		}
	}
	if len(list) == 0 {
		delete(r.waiters, object)
	} else {
		r.waiters[object] = list
	}
}

// wake ends the waits of others: of all, or of the one that has waited longest.
func (r *run) wake(t *thread, h *hook.Record, at uint64) {
	n := 1
	if r.table[h.Func].role == roleCondAll {
		n = len(r.waiters[h.Arg0])
	}
	r.wakeSome(t, h, at, n)
}

// wakeSome ends the waits of those n that have waited longest.
func (r *run) wakeSome(t *thread, h *hook.Record, at uint64, n int) {
	list := r.waiters[h.Arg0]
	if t.covered() || len(list) == 0 || n <= 0 {
		return
	}
	list = slices.Clone(list[:min(n, len(list))])
	op := r.arrival(t, section.OpRelease, h, at, h.Arg0)
	for _, w := range list {
		op.Woken = append(op.Woken, w.id)
	}
	r.feed(op)
	for _, w := range list { // from now on they have something to do, whenever they get a core for it
		r.condOver(w, at)
	}
}
