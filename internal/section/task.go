package section

import "lime/internal/unit"

// taskState is what a thread did when it was given a task.
type taskState struct {
	began unit.Cycles
	was   state
	open  bool
}

// task begins work that a thread is given while it waits at a barrier or at a region's end: it is work for the
// section that ends there, although the thread has arrived already.
func (r *Recogniser) task(t *thread, op *Op) {
	if t.waitingPart() == nil || t.task.open {
		return
	}
	t.task = taskState{began: op.At, was: t.state, open: true}
	o := t.top()
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
	t.task.open = false
	t.state = t.task.was
	o := t.top()
	if p := t.waitingPart(); p != nil {
		p.Arrive += op.At - t.task.began
		p.Release = max(p.Release, p.Arrive)
		p.LockWait, p.OffCPU = p.LockWait+o.lock, p.OffCPU+o.off
		p.addBefore(o.spans)
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

// waitingPart is the part with which the thread stands at a barrier or at the end of a region, nil if at none.
func (t *thread) waitingPart() *Part {
	if e := t.at; e != nil {
		if i, ok := e.index[t.id]; ok && i < len(e.parts) {
			return &e.parts[i]
		}
		return nil
	}
	if g := t.ended; g != nil && !g.done && t.endPart < len(g.parts) {
		return &g.parts[t.endPart]
	}
	return nil
}
