// Tasks of OpenMP.

package sim

import (
	"lime/internal/collect/known"
	"lime/internal/section"
)

// Tasks: a runtime hands them to threads that wait, for other tasks, at a barrier or at the end of
// a region. What runs there is work of the section that ends so, as long as it is in the task's
// function: looking for tasks and waiting for them is idleness.

// tasks is the tasks of OpenMP and of TBB, and TBB's regions.
type tasks struct {
	barriers   *barriers
	memory     *memory
	openCalls  *openCalls
	operations *operations
	places     *places
	probes     *probes
	regions    *regions
	segments   *segments
	beside     *beside
	dealer     *dealer // nil: each thread has a core of its own, and who comes first is no chance
	lineages   *lineages
	pools      pools
}

// enterTaskObject: the task's object comes with the return.
func (ts *tasks) enterTaskObject(t *thread, f *fn) {
	ts.noteBody(t, f)
	from := ts.lineages.of(t)
	ts.openCalls.open(t, f).gives = from
}

// leaveTaskObject: the object is there.
func (ts *tasks) leaveTaskObject(t *thread, c *call) {
	ts.lineages.object(t.ctx.GPR[rax], handed{body: c.object, from: c.gives}, objectOfTask)
}

// enterTaskLoop: the object does not run, copies of it do.
func (ts *tasks) enterTaskLoop(t *thread, f *fn) { ts.lineages.isCopied(argument(t, f.Object)) }

// noteBody notes the function of a task in the making.
func (ts *tasks) noteBody(t *thread, f *fn) {
	ts.dealer.notes(t, dealMakes)
	body := argument(t, f.Object)
	ts.barriers.noCandidate(body)
	if ts.openCalls.taskBodies[body] == nil && ts.openCalls.entries[body] == nil {
		ts.openCalls.taskBodies[body] = &fn{Name: "task body", Role: known.TaskBody, Source: f.Source}
		ts.probes.setProbe(body)
	}
}

// enterDeal: whoever comes first gets the next pieces of work, by the clock, not by whose turn
// on its core came first.
func (ts *tasks) enterDeal(t *thread, _ *fn) { ts.dealer.notes(t, dealComes) }

// enterTaskWait begins a wait for tasks.
func (ts *tasks) enterTaskWait(t *thread, f *fn) {
	if len(t.regions) == 0 && t.in(known.TaskBody) == nil {
		return // there is nobody else
	}
	ts.openCalls.openSlow(t, f)
	t.frames[len(t.frames)-1].reported = true
	ts.dealer.notes(t, dealWaits)
	ts.operations.feed(t.simple(section.OpLull, 0))
}

// leaveTaskWait ends it: of the call, only the return is counted.
func (ts *tasks) leaveTaskWait(t *thread, c *call) {
	ts.segments.dropSlow(t, c)
	ts.dealer.notes(t, dealGoesOn)
	ts.operations.feed(t.simple(section.OpLullEnd, 0))
}

// enterTaskBody begins a task in a thread that waits.
func (ts *tasks) enterTaskBody(t *thread, f *fn) {
	from := ts.lineages.begins(t)
	if w := t.taskWait(); w != nil {
		t.given = append(t.given, t.ctx.RIP)
		ts.segments.keep(t)
		t.busy = min(t.busy, w.busy)
		c := ts.openCalls.open(t, f)
		c.within, c.from = true, from
		ts.dealer.notes(t, dealBegins)
		ts.operations.feed(t.simple(section.OpLullEnd, 0))
		return
	}
	if f.Source == known.TBB && !ts.givenTask(t) {
		return
	}
	c := ts.openCalls.open(t, f)
	c.idle, t.idle, c.from = t.idle, false, from
	ts.segments.begin(t, outIdle, ts.places.stack(t))
	ts.dealer.notes(t, dealBegins)
	t.given = append(t.given, t.ctx.RIP)
	ts.operations.feed(t.simple(section.OpTask, 0))
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
func (ts *tasks) leaveTaskBody(t *thread, c *call) {
	if next := t.ctx.GPR[rax]; c.fn.Source == known.TBB && next != 0 {
		ts.dealer.notes(t, dealMakes)
		ts.noteTask(next, c.from) // the next one, which has not been made by a call
	}
	ts.dealer.notes(t, dealEnds)
	if c.within {
		p := &segment{}
		ts.segments.drain(t, p)
		ts.segments.dropReturn(p, c.ret)
		t.keepFor(p)
		if w := t.taskWait(); w != nil {
			w.busy = t.busy
		}
		ts.operations.feed(t.simple(section.OpLull, 0))
		return
	}
	op, p := ts.segments.cutOp(t, section.OpTaskEnd)
	p.task = true
	ts.segments.dropReturn(p, c.ret)
	ts.operations.feed(op)
	if t.idle = c.idle; ts.beside != nil {
		ts.workedUntil(t, c)
	}
}

// workedUntil notes up to which clock t, which waits at the end of a section, has done a task: it has
// only waited since then, and the others have waited for it until then.
func (ts *tasks) workedUntil(t *thread, c *call) {
	now := t.now()
	for i := len(t.frames) - 1; i >= 0; i-- {
		if f := &t.frames[i]; f.meeting != nil {
			f.worked, f.meeting.last = now, max(f.meeting.last, now)
			return
		}
	}
	if !t.idle && t.in(known.Fork) == nil {
		return
	}
	t.rests = now
	if c.fn.Source == known.TBB {
		if k := ts.latestPool(t); k != nil {
			k.last = max(k.last, now)
		}
		return
	}
	if k := ts.regions.forkWith(t.host.region); k != nil {
		k.last = max(k.last, now)
	}
}
