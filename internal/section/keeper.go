package section

import (
	"slices"

	"lime/internal/unit"
)

// A keeper gives work out to others and waits until it is done.

// noteDealer notes from whom threads had their last work.
func (r *Recogniser) noteDealer(t *thread, woken []ThreadID) {
	for _, id := range woken {
		if q := r.threads[id]; q != nil {
			t.answered = t.answered || t.dealer == id
			q.answered = false
			t.met(q)
			q.met(t)
			q.dealt = q.dealt && t.dealer != id
			q.dealer, q.fed = t.id, true
		}
	}
	t.dealt = t.dealt || len(woken) > 0
}

// keeps reports whether all who wait had their last work from the thread, or none since they are
// there. In a pipeline, some had it from other stages.
func (r *Recogniser) keeps(p *release) bool {
	for _, id := range p.quorum {
		if q := r.threads[id]; q.fed && q.dealer != p.by {
			return false
		}
	}
	return true
}

// deals reports whether the release is that of a keeper who gives work out: to threads that had
// their last work from it, too, and not again before one of them has told it that the last was
// done. A stage of a pipeline, which wakes the next one with every item, is no keeper, nor is who
// wakes all to say that a queue is closed: nobody has waited for the work that was done till then.
func (r *Recogniser) deals(p *release) bool {
	for id := range p.woken {
		if q := r.threads[id]; q == nil || q.dealer != p.by {
			return false
		}
	}
	if !r.keeps(p) || !r.closed(p) {
		return false
	}
	return !r.threads[p.by].dealt
}

// met notes that one has ended the other's wait since its last section.
func (t *thread) met(q *thread) {
	if t.partners == nil || t.since != t.parts {
		t.partners, t.since = map[*thread]bool{}, t.parts
	}
	t.partners[q] = true
}

// among reports whether t has had to do, since its last section, with those only whom a test
// accepts.
func (t *thread) among(accepts func(*thread) bool) bool {
	if t.since != t.parts {
		return true
	}
	for q := range t.partners {
		if !accepts(q) {
			return false
		}
	}
	return true
}

// closed reports whether the releasing thread and those who are woken have had to do with one
// another only. Those in the middle of a pipeline hand on what they were given.
func (r *Recogniser) closed(p *release) bool {
	return r.kept(p, func(q *thread) bool { return q.id == p.by || p.woken[q.id] || q.dealer == p.by })
}

// kept reports whether the releasing thread and those who are woken have had to do with those only
// whom a test accepts.
func (r *Recogniser) kept(p *release, accepts func(*thread) bool) bool {
	for id := range p.woken {
		if !r.threads[id].among(accepts) {
			return false
		}
	}
	return r.threads[p.by].among(accepts)
}

// answers reports whether those who are woken are the keepers of all the others: they gave each its
// last work. Neither they nor who wakes them have had to do with anybody else: the last two stages
// of a pipeline, whose first ones have ended, have. One answer is for one piece of work: a stage
// that makes room in a queue again and again does not come to the end of anything by that. Of two
// threads that wake each other nobody can tell whether it is the end of the work or room in a
// queue.
func (r *Recogniser) answers(p *release) bool {
	if by := r.threads[p.by]; by.answered || by.fed && len(p.quorum) < 2 {
		return false
	}
	if !r.kept(p, func(q *thread) bool { return q.id == p.by || p.woken[q.id] || p.woken[q.dealer] }) {
		return false
	}
	for _, o := range r.order {
		if o.state == gone || o.state == idle || o.state == joining || p.woken[o.id] || o.wait.done && o.state == waiting {
			continue
		}
		if !p.woken[o.dealer] {
			return false
		}
	}
	return true
}

// withoutKeepers drops the parts of threads that created others and have done next to nothing
// themselves since, but wait until the others are done: by sleeping, say.
func (r *Recogniser) withoutKeepers(parts []Part) []Part {
	parents, most := map[ThreadID]bool{}, unit.Cycles(0)
	for i := range parts {
		parents[r.threads[parts[i].Thread].parent] = true
		most = max(most, parts[i].worked())
	}
	return slices.DeleteFunc(parts, func(p Part) bool { return parents[p.Thread] && p.OffCPU > p.worked() && p.worked()*parentShare < most })
}

// worked is the part's time without its waits.
func (p *Part) worked() unit.Cycles {
	return p.Time() - min(p.Time(), p.LockWait+p.OffCPU)
}
