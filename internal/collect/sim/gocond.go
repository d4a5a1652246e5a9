package sim

import (
	"slices"

	"lime/internal/collect/known"
	"lime/internal/section"
)

// A condition of Go's package sync is a list of goroutines that wait (runtime/sema.go, notifyList),
// so that a barrier of mutex and condition shows in the same way as one of pthreads: somebody wakes
// all who wait for the same object.

// enterGoCondWait: all until the goroutine has its lock back is waiting, if it has to wait at all.
func (r *run) enterGoCondWait(t *thread, f *fn) {
	if t.gopher != nil {
		r.open(t, f)
	}
}

// enterGoCondList notes the list that the goroutine has put itself on.
func (r *run) enterGoCondList(t *thread, _ *fn) {
	if c := t.in(known.GoCondWait); c != nil {
		c.object = t.ctx.GPR[rax]
	}
}

// waitsFor is what a goroutine that waits for others waits for: a condition, or whoever makes it go
// on.
func (t *thread) waitsFor() uint64 {
	if c := t.in(known.GoCondWait); c != nil {
		return c.object
	}
	return t.gopher.g
}

// parks reports whether a goroutine that leaves its thread does so to wait for a condition; inside
// of that it may wait for a lock, too.
func (t *thread) parks() bool {
	n := len(t.frames)
	if n == 0 || t.frames[n-1].fn.Role != known.GoCondWait || t.frames[n-1].object == 0 || t.frames[n-1].told {
		return false
	}
	t.frames[n-1].told = true
	return true
}

func (r *run) leaveGoCondWait(t *thread, c *call) {
	if !c.told {
		return
	}
	op := t.simple(section.OpWaitEnd, 0)
	op.Idle = true
	r.feed(op)
	stack := r.outside(t, c)
	r.begin(t, outCall, stack)
	if r.rec.Ended(t.id) {
		r.comeHome(t, stack)
	}
}

// enterGoCondWake tells that a goroutine wakes all who wait for a condition.
func (r *run) enterGoCondWake(t *thread, _ *fn) {
	object := t.ctx.GPR[rax]
	var woken []section.ThreadID
	for _, w := range r.gophers.byG {
		if w.gopher.left == leftTold && w.carrier == nil && w.waitsFor() == object {
			woken = append(woken, w.id)
		}
	}
	if len(woken) == 0 {
		return
	}
	slices.Sort(woken)
	op, _ := r.cutOp(t, section.OpRelease)
	op.Object, op.Woken = object, woken
	before := r.rec.Parts(t.id)
	r.feed(op)
	if r.rec.Parts(t.id) != before {
		r.comeHome(t, r.stack(t))
	}
}
