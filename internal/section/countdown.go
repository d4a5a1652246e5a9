package section

// countdown is an object that several threads count down and that others wait for, such as Go's
// WaitGroup: who waits goes on when all have done what he waits for. How often each of them does so
// does not matter.
type countdown struct {
	by    map[ThreadID]counted
	again bool // some of those who counted it down last are still there
}

// counted is a thread's last count.
type counted struct {
	mark mark
	at   Op
}

// count notes that t has done something that others may wait for. Its part goes on until it turns
// out that they did.
func (r *Recogniser) count(t *thread, op *Op) {
	t.piece(op)
	c := r.countdowns[op.Object]
	if c == nil {
		c = &countdown{by: map[ThreadID]counted{}}
		r.countdowns[op.Object] = c
	}
	c.by[t.id] = counted{mark: t.mark(), at: *op}
}

// countUp begins a new passage, if those who will do the work are there already: what t has done
// until now it has done alone.
func (r *Recogniser) countUp(t *thread, op *Op) {
	t.piece(op)
	if c := r.countdowns[op.Object]; c != nil && c.again && len(c.by) == 0 && len(t.open) == 1 {
		c.again = false
		r.serial(t, op)
	}
}

// await ends the part of a thread that waits for those who count.
func (r *Recogniser) await(t *thread, op *Op) {
	t.piece(op)
	t.state = joining
	t.wait = waitState{at: op.At, site: op.Site}
	g := t.group()
	if g == nil || len(t.open) > 1 && !g.pushed {
		g = newGroup()
	}
	g.begin = op.At
	if g.parent == nil {
		p := t.close(op.At, op.Site)
		g.parent = &p
	}
	t.awaits = g
}

// awaitEnd hands out what those have done who counted.
func (r *Recogniser) awaitEnd(t *thread, op *Op) {
	g := t.awaits
	if g == nil {
		return
	}
	t.state, t.awaits = running, nil
	c := r.countdowns[op.Object]
	if c == nil {
		c = &countdown{}
	}
	delete(r.countdowns, op.Object)
	for _, o := range r.order {
		n, ok := c.by[o.id]
		if !ok || o == t {
			continue
		}
		if p, ok := o.upTo(&n); ok {
			p.Release = op.At
			g.joined = append(g.joined, p)
		}
		delete(g.members, o.id)
		if o.state != gone {
			r.countdowns[op.Object] = &countdown{by: map[ThreadID]counted{}, again: true}
		}
	}
	if g.parent != nil {
		g.parent.Release = op.At
	}
	g.note(t.wait.site.outside(), op.At-g.begin)
	if p := g.parent; p != nil && len(g.joined) == 0 && p.Time() > 0 {
		r.finish(Instance{Kind: Serial, Place: t.wait.site.outside(), Parts: []Part{*p}})
	}
	r.finishGroup(t, g, op.At)
	r.forgetGone()
}

// upTo is t's part up to a count of its own.
func (t *thread) upTo(n *counted) (Part, bool) {
	if t.state == gone {
		p := t.last()
		t.exit = nil
		if p == nil {
			return Part{}, false
		}
		return *p, true
	}
	if !t.valid(n.mark) {
		return Part{}, false
	}
	return t.split(n.mark, n.at.At, n.at.At, n.at.Site), true
}

// mostLoose is how many threads that are gone, and that nobody waits for, are kept until the end.
const mostLoose = 1024

// letGo notes a thread that nobody will join, unless somebody may wait until it has counted down.
// There may be any number of them in a program that runs for long, so they do not all wait for its
// end.
func (r *Recogniser) letGo(t *thread) {
	for _, c := range r.countdowns {
		if _, ok := c.by[t.id]; ok {
			return
		}
	}
	if g := r.threads[t.parent]; g != nil && g.groupOf(t.id) != nil {
		delete(g.groupOf(t.id).members, t.id)
	}
	if r.loose = append(r.loose, t); len(r.loose) < mostLoose {
		return
	}
	var parts []Part
	for _, o := range r.loose {
		if p := o.last(); p != nil && p.Time() > 0 {
			parts = append(parts, *p)
		}
		o.exit = nil
	}
	r.loose = nil
	r.finish(Instance{Kind: Tail, Place: majorityPlace(parts, 0), Parts: parts})
	r.forgetGone()
}

// forgetGone drops the threads that are gone and belong to no section any more: there may be any
// number of them.
func (r *Recogniser) forgetGone() {
	keep := r.order[:0]
	for _, t := range r.order {
		if t.state != gone || t.exit != nil {
			keep = append(keep, t)
		}
	}
	clear(r.order[len(keep):])
	r.order = keep
}
