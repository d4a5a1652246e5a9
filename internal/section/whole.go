// Passages of built barriers through which a thread came unseen: it spun, and was not seen to wait.

package section

import (
	"slices"

	"lime/internal/unit"
)

// held is a built barrier's last passage, kept back as long as it may turn out that not all who
// take part were seen. A thread that comes to the next passage, or to its end, in a part that began
// before this one opened, and did not wait then, came through it unseen or not at all: its part
// holds the work of two sections, the others' that of one. Nobody knows where it came through, so
// nothing is said of this passage: the others' parts go on as if there had been none.
type held struct {
	e      *builtEpisode
	object uint64
	at     unit.Cycles // when it opened
	before unit.Cycles // and the one before it, 0 if there is none
	waited []ThreadID
	tops   []*openPart // of the parts, in their order
}

// holding are the passages that are kept back, one of a barrier at most.
type holding struct {
	r    *Recogniser
	list []*held
}

// hold keeps a passage back, and hands out those that are settled: of the same barrier, and those
// whose threads have come to another section's end since.
func (k *holding) hold(e *builtEpisode, p *release, before unit.Cycles) {
	h := &held{e: e, object: p.object, at: p.at, before: before, waited: p.quorum}
	for i := range e.parts {
		h.tops = append(h.tops, k.r.threads[e.parts[i].Thread].top())
	}
	k.handOut(func(x *held) bool { return x.object == h.object || !k.goesOn(x, nil) })
	if e.ended || e.late > 0 || e.dealt {
		k.r.undone = append(k.r.undone, e)
	} else {
		k.list = append(k.list, h)
	}
	k.r.settle(false)
}

// handOut hands out the passages that a test is true of.
func (k *holding) handOut(is func(*held) bool) {
	k.list = slices.DeleteFunc(k.list, func(h *held) bool {
		if is(h) {
			k.r.undone = append(k.r.undone, h.e)
			return true
		}
		return false
	})
}

// goesOn reports whether each thread of a passage is in its next part still, or that is among those
// parts.
func (k *holding) goesOn(h *held, parts []Part) bool {
	for i := range h.e.parts {
		old := &h.e.parts[i]
		if t := k.r.threads[old.Thread]; next(parts, old) == nil && (!k.isNext(h, i) || t.inside()) {
			return false
		}
	}
	return true
}

// isNext reports whether a thread of a passage is in its next part, or still in the wait before it.
func (k *holding) isNext(h *held, i int) bool {
	old := &h.e.parts[i]
	t := k.r.threads[old.Thread]
	return t.state != gone && t.parts == old.Number+1 && t.top() == h.tops[i]
}

// again takes the passage back that was to end the wait in which a thread is again: it was not let
// through, and so was nobody by a barrier.
func (k *holding) again(t *thread) {
	if h := k.last(t.id); h != nil {
		k.takeBack(h, nil)
	}
}

// overtaken takes the last passage back if one of its threads lets others go once more, before all
// have come out of it: they cannot have come to a barrier anew.
func (k *holding) overtaken(p *release) bool {
	h := k.last(p.by)
	if h == nil || h.object != p.object || !slices.ContainsFunc(h.e.parts, func(old Part) bool {
		return p.woken[old.Thread] && k.r.threads[old.Thread].inside()
	}) {
		return false
	}
	return k.takeBack(h, p)
}

// last is the passage behind which a thread is in its next part, nil if none of those kept back is
// it.
func (k *holding) last(id ThreadID) *held {
	i := slices.IndexFunc(k.list, func(h *held) bool {
		return slices.ContainsFunc(h.e.parts, func(old Part) bool {
			return old.Thread == id && k.r.threads[id].parts == old.Number+1
		})
	})
	if i < 0 {
		return nil
	}
	return k.list[i]
}

// takeBack forgets a passage, if no thread has come to another section's end since.
func (k *holding) takeBack(h *held, p *release) bool {
	for i := range h.e.parts {
		if !k.isNext(h, i) {
			return false
		}
	}
	k.forget(h, p, nil)
	return true
}

// inside reports whether a thread is still in a wait that has ended a section.
func (t *thread) inside() bool { return t.state == waiting && t.wait.done }

// next is the part that a thread did after another one.
func next(parts []Part, old *Part) *Part {
	i := slices.IndexFunc(parts, func(p Part) bool { return p.Thread == old.Thread && p.Number == old.Number+1 })
	if i < 0 {
		return nil
	}
	return &parts[i]
}

// missed reports whether a thread whose part began then came through the passage unseen.
func (h *held) missed(id ThreadID, start unit.Cycles) bool {
	return start < h.at && start >= h.before && !slices.Contains(h.waited, id) &&
		!slices.ContainsFunc(h.e.parts, func(p Part) bool { return p.Thread == id })
}

// unify joins the barrier's last passage to the one that opens now, if somebody takes part who came
// through the last one unseen.
func (k *holding) unify(p *release) {
	i := slices.IndexFunc(k.list, func(h *held) bool { return h.object == p.object })
	if i < 0 || !k.r.symmetric(p) {
		return
	}
	h := k.list[i]
	late := h.missed(p.by, k.r.threads[p.by].top().start)
	for _, id := range p.quorum {
		q := k.r.threads[id]
		takesPart := !q.wait.done && (p.global || p.woken[id]) && q.valid(q.wait.mark)
		late = late || takesPart && h.missed(id, q.top().start)
	}
	if late && k.goesOn(h, nil) {
		k.forget(h, p, nil)
	}
}

// unifyJoined does so where threads end: their last parts are those.
func (k *holding) unifyJoined(parts []Part) {
	for _, h := range slices.Clone(k.list) {
		if slices.ContainsFunc(parts, func(p Part) bool { return h.missed(p.Thread, p.Start) && k.r.threads[p.Thread].meets(h) }) &&
			k.goesOn(h, parts) {
			k.forget(h, nil, parts)
		}
	}
	k.handOut(func(h *held) bool {
		return slices.ContainsFunc(h.e.parts, func(old Part) bool { return next(parts, &old) != nil })
	})
	k.r.settle(false)
}

// meets reports whether the thread is one of a passage's barrier, or of none.
func (t *thread) meets(h *held) bool { return t.opened == 0 || t.barrier == h.object }

// forget takes a passage back: what its threads did up to it is part of what they did then.
func (k *holding) forget(h *held, p *release, parts []Part) {
	k.list = slices.DeleteFunc(k.list, func(x *held) bool { return x == h })
	for i := range h.e.parts {
		old := &h.e.parts[i]
		t := k.r.threads[old.Thread]
		if t.opened = h.before; h.before == 0 {
			t.barrier = 0
		}
		if q := next(parts, old); q != nil {
			q.continues(old)
		} else {
			k.reopen(t, old, p)
		}
	}
	if delete(k.r.openings, h.object); h.before != 0 {
		k.r.openings[h.object] = h.before
	}
}

// continues puts what a thread did before in front of a part. The wait between them is no time of
// either.
func (p *Part) continues(old *Part) {
	p.Arrive -= p.Start - old.Arrive
	p.Start, p.first = old.Start, old.first
	p.LockWait, p.OffCPU = p.LockWait+old.LockWait, p.OffCPU+old.OffCPU
	p.Spans = slices.Concat(old.Spans, p.Spans)
	p.site.Kept = min(p.site.Kept, old.site.Kept)
}

// reopen does that to the part under way; points in it keep their place.
func (k *holding) reopen(t *thread, old *Part, p *release) {
	inside := t.inside()
	if inside { // in the wait that the passage was to end
		t.top().start = t.wait.at
	}
	o, between := t.top(), t.top().start-old.Arrive
	shift := func(m *mark) {
		if m.part == o && m.closed == t.parts {
			m.spans += len(old.Spans)
			m.lock, m.off, m.idle = m.lock+old.LockWait, m.off+old.OffCPU, m.idle+between
		}
	}
	shift(&t.wait.mark)
	if p != nil && p.by == t.id {
		shift(&p.mark)
	}
	if q := k.r.pending; q != nil && q != p && q.by == t.id {
		shift(&q.mark)
	}
	for _, list := range k.r.passages {
		if q := list[t.id]; q != nil {
			shift(&q.mark)
		}
	}
	o.start, o.spans = old.Start, slices.Concat(old.Spans, o.spans)
	o.lock, o.off, o.idle = o.lock+old.LockWait, o.off+old.OffCPU, o.idle+between
	o.kept = min(o.kept, old.site.Kept)
	if inside {
		t.wait.done, t.wait.mark = false, t.mark()
	}
}
