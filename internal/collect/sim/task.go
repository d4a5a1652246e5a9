package sim

import "lime/internal/section"

// Tasks: a runtime hands them to threads that wait at a barrier or at the end of a region. What runs there is
// work of the section that ends so.

// enterTask notes the function of a task in the making.
func (r *run) enterTask(t *thread, f *fn) {
	body := argument(t, f.arg)
	if r.tasks[body] == nil && r.entries[body] == nil {
		r.tasks[body] = &fn{name: "task body", role: roleTaskBody, source: f.source}
		r.setProbe(body)
	}
}

// enterTaskBody begins a task in a thread that waits.
func (r *run) enterTaskBody(t *thread, f *fn) {
	c := r.open(t, f)
	c.idle, t.idle = t.idle, false
	r.begin(t, r.stack(t))
	r.feed(t.simple(section.OpTask, 0))
}

// leaveTaskBody ends it: the thread waits on.
func (r *run) leaveTaskBody(t *thread, c *call) {
	op, _ := r.cutOp(t, section.OpTaskEnd)
	r.feed(op)
	t.idle = c.idle
}
