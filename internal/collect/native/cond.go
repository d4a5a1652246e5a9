package native

import (
	"lime/internal/collect/native/hook"
	"lime/internal/section"
)

// enterCond begins a wait for a condition variable. Its end shows in the thread's coming back to a CPU, or in
// the next thing that the thread does.
func (r *run) enterCond(t *thread, h *hook.Record, at uint64) {
	if t.covered() || t.idle {
		return
	}
	r.feed(r.arrival(t, section.OpWaitBegin, h, at, h.Arg0))
	t.cond = condWait{on: true, object: h.Arg0}
	r.waiters[h.Arg0] = append(r.waiters[h.Arg0], t)
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
	list := r.waiters[h.Arg0]
	if t.covered() || len(list) == 0 {
		return
	}
	if r.table[h.Func].role == roleCondWake {
		list = list[:1]
	}
	op := r.arrival(t, section.OpRelease, h, at, h.Arg0)
	for _, w := range list {
		op.Woken = append(op.Woken, w.id)
	}
	r.feed(op)
}
