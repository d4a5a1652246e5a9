package section

// Threads that have come back from their own function have nothing left to do but to end: to their
// creator, who may wait for a count of those that are done, they have done their work, though they
// are still there. So are the threads of a scope in Rust.

// noteThrough notes which threads are through at a release.
func (r *Recogniser) noteThrough(ids []ThreadID) {
	for _, id := range ids {
		if t := r.threads[id]; t != nil {
			t.through = true
		}
	}
}

// takeEnded adds the threads that have ended already, or are through, and for which those wait who
// are woken now: their creators count them down instead of joining them.
func (r *Recogniser) takeEnded(e *builtEpisode, p *release) {
	by := r.threads[p.by]
	if by.through && p.woken[by.parent] { // it has had a share of the work itself, and has dealt none
		by.rest, e.ended, e.dealt = true, true, false
		r.threads[by.parent].scopes = true
		r.leaveGroup(by)
	}
	for _, o := range r.order {
		if o == by || !p.woken[o.parent] || by.parent != o.parent {
			continue
		}
		switch {
		case o.state == gone && o.exit != nil:
			e.parts = append(e.parts, *o.last())
			o.exit = nil
		case (o.state == running || o.state == waiting) && o.through && o.late == nil && !o.rest:
			o.late = e
			e.late++
		default:
			continue
		}
		e.ended = true
		r.leaveGroup(o)
	}
}

// leaveGroup takes a thread out of those that its creator may yet join.
func (r *Recogniser) leaveGroup(t *thread) {
	parent := r.threads[t.parent]
	g := parent.groupOf(t.id)
	if g == nil {
		return
	}
	delete(g.members, t.id)
	if len(g.members) == 0 && len(g.joined) == 0 && !g.pushed {
		r.dropGroup(parent, g)
	}
}

// ends takes the last part of a thread that was through: it belongs to the section that ended then,
// or, behind its release, to none.
func (r *Recogniser) ends(t *thread) {
	e := t.late
	switch {
	case t.rest:
		t.exit = nil
	case e != nil && t.exit != nil:
		e.parts = append(e.parts, *t.last())
		e.late--
		t.exit, t.late = nil, nil
		r.settle(false)
	}
}

// allThrough reports whether several threads that one made together have all ended, and nobody has
// asked for them.
func (r *Recogniser) allThrough(g *group) bool {
	if g == nil || len(g.members) < 2 {
		return false
	}
	for id := range g.members {
		if o := r.threads[id]; o == nil || o.state != gone || o.exit == nil {
			return false
		}
	}
	return true
}

// finishScope ends the section of threads that were through before their creator came to wait for
// them: it makes further ones now.
func (r *Recogniser) finishScope(t *thread, g *group, op *Op) {
	for _, o := range r.order {
		if g.members[o.id] {
			g.joined = append(g.joined, *o.last())
			o.exit = nil
		}
	}
	clear(g.members)
	g.place = t.wait.site.outside()
	r.finishGroup(t, g, op.At)
}
