package section

import "lime/internal/unit"

// taskState is what a thread did when it was given a task.
type taskState struct {
	began unit.Cycles
	was   state
	open  bool
}

// task begins work that a thread is given while it waits at a barrier or at a region's end: it is
// work for the section that ends there, although the thread has arrived already.
func (r *Recogniser) task(t *thread, op *Op) {
	if t.waitingPart() == nil || t.task.open {
		return
	}
	t.task = taskState{began: op.At, was: t.state, open: true}
	o := t.top()
	t.waitedAround(op.At, t.open[:len(t.open)-1])
	o.clear()
	t.state = running
}

// taskEnd adds the task to the part that has arrived. Its time is that of its work: what the thread
// waited for the task is left out.
func (r *Recogniser) taskEnd(t *thread, op *Op) {
	t.piece(op)
	if !t.task.open {
		return
	}
	p := t.waitingPart()
	t.task.open = false
	t.state, t.waits = t.task.was, op.At
	o := t.top()
	if p != nil {
		all := op.At - t.task.began
		p.Arrive += all - min(o.idle, all)
		p.Release = max(p.Release, p.Arrive)
		p.LockWait, p.OffCPU = p.LockWait+o.lock, p.OffCPU+o.off
		p.addBefore(o.spans)
		if g := t.ended; t.at == nil && g.done && r.unreturned.returned(g) {
			r.finish(g.instance())
		}
	}
	o.clear()
	o.start = op.At
}

// addBefore adds pieces in front of the last one, which ended at the section's end.
func (p *Part) addBefore(spans []any) {
	n := max(0, len(p.Spans)-1)
	all := append([]any{}, p.Spans[:n]...)
	p.Spans = append(append(all, spans...), p.Spans[n:]...)
}

// waitingPart is the part with which the thread stands at a barrier or at the end of a region, nil
// if at none.
func (t *thread) waitingPart() *Part {
	if e := t.at; e != nil {
		if t.atPart < len(e.parts) {
			return &e.parts[t.atPart]
		}
		return nil
	}
	if g := t.ended; g != nil && (!g.done || t.task.open) && t.endPart < len(g.parts) {
		return &g.parts[t.endPart]
	}
	return nil
}

// lull begins a stretch of a thread's part in which it waits for tasks, or looks for some: idleness
// of the section.
func (r *Recogniser) lull(t *thread, op *Op) {
	t.lull = op.At
	for _, p := range t.open {
		p.lullOff = p.off
	}
}

// lullEnd ends it. What the thread was off its core meanwhile is told of by itself.
func (r *Recogniser) lullEnd(t *thread, op *Op) {
	for _, p := range t.open {
		since := op.At - max(t.lull, min(p.start, op.At))
		p.idle += since - min(since, p.off-min(p.off, p.lullOff))
	}
}
