// Parallel regions of OpenMP's runtimes: a fork, the work of each member, and the end.

package native

import (
	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/collect/threads"
	"lime/internal/section"
)

// regions are the parallel regions of the program.
type regions struct {
	episodes   *episodes
	operations *operations
	tasks      *tasks

	open  map[uint64]openRegion // by what names the call
	begun uint64
}

// openRegion is a parallel region that is open.
type openRegion struct{ id, body uint64 }

func (rs *regions) enterFork(t *thread, h *hook.Record, at uint64) {
	rs.begun++
	c := call{role: known.Fork, sp: h.SP, object: rs.begun}
	if t.covered() {
		c.object = 0
	} else {
		rs.open[h.Call()] = openRegion{c.object, h.Arg0}
		rs.operations.feed(rs.operations.arrival(t, section.OpFork, h, at, c.object))
	}
	t.push(c)
}

func (rs *regions) leaveFork(t *thread, h *hook.Record, at uint64) {
	c, ok := t.pop(known.Fork, false)
	if !ok || c.object == 0 {
		return
	}
	delete(rs.open, h.Call())
	delete(rs.episodes.begun, threads.RegionEnd|c.object)
	rs.tasks.allTasksEnd(at)
	op := t.op(section.OpRegionEnd, at)
	op.Object = c.object
	rs.operations.feed(op)
	t.begin(at)
}

func (rs *regions) beginWork(t *thread, h *hook.Record, at uint64) {
	rs.tasks.tasksEnd(t, at)
	in := rs.open[h.Call()]
	c := call{role: known.Fork, sp: h.SP, body: true, object: in.id, function: in.body}
	t.push(c)
	if c.object == 0 {
		return
	}
	t.idle = false
	t.bodies = append(t.bodies, c.object)
	op := t.op(section.OpMember, at)
	op.Object = c.object
	rs.operations.feed(op)
	t.begin(at)
	t.piece.entry = c.function
}

func (rs *regions) endWork(t *thread, at uint64) {
	for n := len(t.calls); n > 0 && !t.calls[n-1].body; n-- { // left by an exception
		t.calls = t.calls[:n-1]
	}
	c, ok := t.pop(known.Fork, true)
	if !ok || c.object == 0 {
		return
	}
	t.bodies = t.bodies[:len(t.bodies)-1]
	op, p := rs.operations.cutOp(t, section.OpMemberEnd, at)
	rs.episodes.comes(t, p, threads.RegionEnd|c.object, at)
	op.Object = c.object
	rs.operations.feed(op)
	if n := len(t.calls); n > 0 {
		t.calls[n-1].over = true
	}
	t.idle = !t.covered()
}
