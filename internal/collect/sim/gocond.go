// What goroutines wait for that has a name: conditions, and counts.

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
func (gr *goroutines) enterGoCondWait(t *thread, f *fn) {
	if t.goroutine != nil {
		gr.openCalls.open(t, f)
	}
}

// enterGoCondList: the goroutine puts itself on the list. From now on it waits: whoever wakes all may
// do so before it has given its lock back and left its thread, and then it does not leave it.
func (gr *goroutines) enterGoCondList(t *thread, _ *fn) {
	c := t.in(known.GoCondWait)
	if c == nil || c.reported {
		return
	}
	c.object, c.reported = t.ctx.GPR[rax], true
	op, _ := gr.segments.cutOp(t, section.OpWaitBegin)
	op.Object = c.object
	gr.operations.feed(op)
	t.goroutine.waits = t.now()
}

// parks reports whether a goroutine that leaves its thread does so to wait for a condition; inside
// of that it may wait for a lock, too.
func (t *thread) parks() bool {
	n := len(t.frames)
	if n == 0 || t.frames[n-1].fn.Role != known.GoCondWait || t.frames[n-1].object == 0 || t.frames[n-1].parked {
		return false
	}
	t.frames[n-1].parked = true
	return true
}

func (gr *goroutines) leaveGoCondWait(t *thread, c *call) {
	if !c.reported {
		return
	}
	op := t.simple(section.OpWaitEnd, 0)
	op.Idle = true
	gr.operations.feed(op)
	stack := gr.places.outside(t, c)
	gr.segments.begin(t, outCall, stack)
	t.segment.back = gr.segments.cameBack(t)
	gr.goesOn(t, stack)
	if gr.rec.Ended(t.id) {
		gr.segments.restartOnReturn(t, stack)
	}
}

// enterGoCondWake tells that a goroutine wakes all who wait for a condition.
func (gr *goroutines) enterGoCondWake(t *thread, _ *fn) {
	object := t.ctx.GPR[rax]
	var woken []section.ThreadID
	for _, w := range gr.table.byG {
		if c := w.in(known.GoCondWait); c != nil && c.reported && c.object == object {
			c.object = 0 // it is on the list no more
			woken = append(woken, w.id)
		}
	}
	if len(woken) == 0 {
		return
	}
	slices.Sort(woken)
	op, _ := gr.segments.cutOp(t, section.OpRelease)
	op.Object, op.Woken = object, woken
	before := gr.rec.Parts(t.id)
	gr.operations.feed(op)
	if gr.rec.Parts(t.id) != before {
		gr.segments.restartOnReturn(t, gr.places.stack(t))
	}
}

// enterGoCount: the thread has done what others wait for (WaitGroup.Done; Add of a negative
// number), or says that there will be something to wait for.
func (gr *goroutines) enterGoCount(t *thread, _ *fn) {
	kind := section.OpCount
	if int64(t.ctx.GPR[rbx]) > 0 {
		kind = section.OpCountUp
	}
	op, _ := gr.segments.cutOp(t, kind)
	op.Object = t.ctx.GPR[rax]
	gr.operations.feed(op)
}

// enterGoAwait: the thread waits until all have done it.
func (gr *goroutines) enterGoAwait(t *thread, f *fn) {
	c := gr.openCalls.open(t, f)
	c.object = t.ctx.GPR[rax]
	gr.operations.feed(gr.openCalls.arrival(t, c, section.OpAwait))
	c.reported = true
}

func (gr *goroutines) leaveGoAwait(t *thread, c *call) {
	gr.operations.feed(t.simple(section.OpAwaitEnd, c.object))
	gr.segments.begin(t, outCall, gr.places.outside(t, c))
}
