package sim

import (
	"lime/internal/collect/known"
	"lime/internal/section"
)

// Tasks: a runtime hands them to threads that wait, for other tasks, at a barrier or at the end of
// a region. What runs there is work of the section that ends so, as long as it is in the task's
// function: looking for tasks and waiting for them is idleness.

// enterTask notes the function of a task in the making.
func (r *run) enterTask(t *thread, f *fn) {
	body := argument(t, f.Object)
	r.noGate(body)
	if r.tasks[body] == nil && r.entries[body] == nil {
		r.tasks[body] = &fn{Name: "task body", Role: known.TaskBody, Source: f.Source}
		r.setProbe(body)
	}
}

// enterDeal: whoever comes first gets the next piece of work, by the clock, not by whose turn on
// its core came first.
func (r *run) enterDeal(t *thread, _ *fn) { r.beside.deals(t) }

// enterTaskWait begins a wait for tasks.
func (r *run) enterTaskWait(t *thread, f *fn) {
	if len(t.regions) == 0 && t.in(known.TaskBody) == nil {
		return // there is nobody else
	}
	r.openSlow(t, f)
	t.frames[len(t.frames)-1].told = true
	r.feed(t.simple(section.OpLull, 0))
}

// leaveTaskWait ends it: of the call, only the return is counted.
func (r *run) leaveTaskWait(t *thread, c *call) {
	r.dropSlow(t, c)
	r.feed(t.simple(section.OpLullEnd, 0))
}

// enterTaskBody begins a task in a thread that waits.
func (r *run) enterTaskBody(t *thread, f *fn) {
	if w := t.taskWait(); w != nil {
		t.given = append(t.given, t.ctx.RIP)
		r.keep(t)
		t.busy = min(t.busy, w.busy)
		r.open(t, f).within = true
		r.feed(t.simple(section.OpLullEnd, 0))
		return
	}
	if f.Source == known.TBB && !r.givenTask(t) {
		return
	}
	c := r.open(t, f)
	c.idle, t.idle = t.idle, false
	r.begin(t, outIdle, r.stack(t))
	t.given = append(t.given, t.ctx.RIP)
	r.feed(t.simple(section.OpTask, 0))
}

// taskWait is the wait for tasks in which t stands, nil if it stands in none.
func (t *thread) taskWait() *call {
	if n := len(t.frames); n > 0 && t.frames[n-1].fn.Role == known.TaskWait {
		return &t.frames[n-1]
	}
	return nil
}

// doesTask reports whether t does a task that it was given at the end of a section.
func (t *thread) doesTask() bool {
	for i := range t.frames {
		if c := &t.frames[i]; c.fn.Role == known.TaskBody && !c.within {
			return true
		}
	}
	return false
}

// leaveTaskBody ends it: the thread waits on. Its return is left out, as the call was.
func (r *run) leaveTaskBody(t *thread, c *call) {
	if next := t.ctx.GPR[rax]; c.fn.Source == known.TBB && next != 0 {
		r.noteTask(next) // the next one, which has not been made by a call
	}
	if c.within {
		p := &piece{}
		r.drain(t, p)
		r.dropReturn(p, c.ret)
		t.keepFor(p)
		if w := t.taskWait(); w != nil {
			w.busy = t.busy
		}
		r.feed(t.simple(section.OpLull, 0))
		return
	}
	op, p := r.cutOp(t, section.OpTaskEnd)
	p.task = true
	r.dropReturn(p, c.ret)
	r.feed(op)
	t.idle = c.idle
}

// dropReturn takes one return to an address out of a piece.
func (r *run) dropReturn(p *piece, ret uint64) {
	for i := range p.edges {
		if e := &p.edges[i]; e.n > 0 && r.returnsTo(e.id, ret) {
			e.n--
			return
		}
	}
}
