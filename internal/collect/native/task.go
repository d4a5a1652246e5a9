// Tasks: runtimes hand them to threads that wait at a barrier or at the end of a region. Hooks tell
// only when longer ones end, but samples do: code of the program's own above the waiting is a task,
// and work of the section that ends so.

package native

import (
	"lime/internal/collect/native/hook"
	"lime/internal/section"
)

// tasks are what threads do while they wait, as far as samples tell.
type tasks struct {
	clocks     *clocks
	operations *operations
	out        *output
	places     *places
	program    *program
	roster     *roster
	shared     *shared
}

// made notes where tasks of a function are made, when one is for the first time.
func (ts *tasks) made(_ *thread, h *hook.Record, _ uint64) {
	call := ts.program.code.callBefore(h.Caller)
	if s := ts.places.site(h).Site; len(s.Stack) > 0 {
		call = uint64(s.Stack[s.Library].Call)
		for _, f := range s.Stack {
			ts.out.done.makes[uint64(f.Func)] = true
		}
	}
	ts.out.done.calls[h.Arg0] = call
}

// did takes in the end of a task that took long. Where times off the core are forgotten, nothing is
// claimed of it.
func (ts *tasks) did(t *thread, h *hook.Record, at uint64) {
	from := at - min(ts.shared.clock.span(h.Arg1, h.TSC), at)
	if from < t.cpu.blank || !ts.shared.events.switches {
		return
	}
	long := at - from
	x := doneTask{t.id, from, at, h.Arg0, long - min(t.cpu.offIn(from, at), long)}
	own := ts.out.done.add(x)
	if t.task != nil {
		t.task.whole += own
	}
}

// runsTask takes a sample of a task.
func (ts *tasks) runsTask(t *thread, x *item) {
	if t.task == nil {
		ts.operations.feed(t.op(section.OpTask, x.at))
		t.task = &piece{thread: t, from: x.at, row: int32(t.id), tasks: true}
		ts.shared.notes.Set("task-time", "work in tasks that threads do at barriers and region ends is estimated from samples", 1)
	}
	t.onTask = true
	x.sample.at = t.task.cpu
	t.task.cpu += ts.shared.events.nanosOf(x.sample.period)
	t.task.work += x.sample.period
	t.task.samples = append(t.task.samples, x.sample)
}

// tasksEnd ends the tasks of a thread before it goes on.
func (ts *tasks) tasksEnd(t *thread, at uint64) {
	ts.waited(t)
	if t.task == nil {
		return
	}
	op := t.op(section.OpTaskEnd, at)
	t.task.cpu = max(t.task.cpu, t.task.whole) // samples are an estimate of what is known of the longer ones
	op.Span = t.task
	t.task, t.onTask = nil, false
	ts.operations.feed(op)
}

// waited notes for how long a thread that leaves the end of a section waited there, and had no task.
func (ts *tasks) waited(t *thread) {
	p := t.came.with
	if p == nil {
		return
	}
	p.idled = t.cpu.idle - t.came.idle + t.piece.rested
	if off := &t.off.now; off.from != 0 && !off.forced {
		p.idled += ts.clocks.pace.now - off.pace
	}
	t.came = arrival{}
}

// allTasksEnd ends those of all threads: the region that they belong to is over.
func (ts *tasks) allTasksEnd(at uint64) {
	for _, t := range ts.roster.threads {
		ts.tasksEnd(t, at)
	}
}
