package section

import "lime/internal/unit"

// passage is a thread's last way through a place that may turn out to be a barrier. Until then it
// goes on in the same part.
type passage struct {
	mark    mark
	in, out unit.Cycles
	site    Site
	inside  int // spans that it added
	over    bool
}

// pass notes that t comes to a place that may be a barrier.
func (r *Recogniser) pass(t *thread, op *Op) {
	t.piece(op)
	list := r.passages[op.Object]
	if list == nil {
		list = map[ThreadID]*passage{}
		r.passages[op.Object] = list
	}
	list[t.id] = &passage{mark: t.mark(), in: op.At, site: op.Site}
}

// passEnd notes that it goes on behind it.
func (r *Recogniser) passEnd(t *thread, op *Op) {
	t.piece(op)
	if p := r.passages[op.Object][t.id]; p != nil && t.valid(p.mark) {
		p.out, p.over, p.inside = op.At, true, len(t.top().spans)-p.mark.spans
	}
}

// splitAt ends t's part at a passage. What comes behind that keeps its marks of later passages.
func (r *Recogniser) splitAt(t *thread, p *passage) Part {
	all, closed, o := *t.top(), t.parts, t.top()
	part := t.split(p.mark, p.in, max(p.in, p.out), p.site)
	gone := p.mark.spans + p.inside
	o.spans, o.kept = o.spans[p.inside:], all.kept
	o.lock, o.off, o.idle = all.lock-p.mark.lock, all.off-p.mark.off, all.idle-p.mark.idle
	for _, list := range r.passages {
		if q := list[t.id]; q != nil && q.mark.part == o && q.mark.closed == closed && q.mark.spans >= gone {
			m := &q.mark
			m.spans, m.closed = m.spans-gone, t.parts
			m.lock, m.off, m.idle = m.lock-p.mark.lock, m.off-p.mark.off, m.idle-p.mark.idle
		}
	}
	return part
}

// passKnown: the place is a barrier, so the last passages of all who have come through it ended a
// section. What they did inside was to wait. Who is inside still leaves later.
func (r *Recogniser) passKnown(_ *thread, op *Op) {
	list := r.passages[op.Object]
	delete(r.passages, op.Object)
	e := newEpisode(Built, 0)
	e.complete = true
	for _, t := range r.order {
		p := list[t.id]
		if p == nil || t.state == gone || !t.valid(p.mark) {
			continue
		}
		part := r.splitAt(t, p)
		if p.over {
			part.Release = p.out
			e.left++
		} else {
			t.at, t.atPart, t.state = e, len(e.parts), arrived
		}
		e.parts = append(e.parts, part)
	}
	r.barriers[op.Object] = e
	if e.left == len(e.parts) {
		r.finishBarrier(op.Object)
	}
}
