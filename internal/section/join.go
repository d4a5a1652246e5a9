package section

import "lime/internal/unit"

// group is the threads that one parent created together and joins together:
// however many calls it takes, their end is one section.
type group struct {
	members map[ThreadID]bool // created and not joined
	joined  []Part
	pushed  bool  // the parent was not alone when it began to create
	shared  bool  // the parent took part in a section with a member
	parent  *Part // what the parent did between the last create and the first join
	sites   map[unit.Addr]unit.Cycles
	begin   unit.Cycles
	place   unit.Addr
}

// create notes a new thread. The first of a group ends the parent's serial stretch.
func (r *Recogniser) create(t *thread, op *Op) {
	t.piece(op)
	g := t.group()
	if g != nil && len(g.joined) > 0 {
		r.finishGroup(t, g, op.At)
		g = t.group()
	}
	if t.scopes && r.allThrough(g) {
		r.finishScope(t, g, op)
		g = t.group()
	}
	if g == nil {
		g = r.openGroup(t, op)
	}
	g.members[op.Other] = true
	g.parent = nil
}

// created ends what belongs to the creation of a thread: threads come into being one after the
// other because their creator makes them so, not because their work is uneven. Its own part in
// their section starts when the last of them is there, as theirs start when they are.
func (r *Recogniser) created(t *thread, op *Op) {
	t.piece(op)
	g := t.group()
	switch {
	case g == nil || g.parent != nil:
	case len(t.open) == 1:
		r.serial(t, op)
	case g.pushed:
		*t.top() = openPart{start: op.At, kept: maxKept}
		t.parts++ // marks in what is dropped are void
	}
}

// group is the innermost open join group of t.
func (t *thread) group() *group {
	if n := len(t.groups); n > 0 {
		return t.groups[n-1]
	}
	return nil
}

func (r *Recogniser) openGroup(t *thread, op *Op) *group {
	g := newGroup()
	if len(t.open) == 1 && len(t.region) == 0 && r.aloneBut(t, op.Other) {
		r.serial(t, op)
	} else {
		g.pushed = true
		t.push(op.At)
	}
	t.groups = append(t.groups, g)
	return g
}

func newGroup() *group {
	return &group{members: map[ThreadID]bool{}, sites: map[unit.Addr]unit.Cycles{}}
}

// aloneBut is alone, the thread just created left out.
func (r *Recogniser) aloneBut(t *thread, fresh ThreadID) bool {
	c := r.threads[fresh]
	if c == nil {
		return r.alone(t)
	}
	was := c.state
	c.state = idle
	ok := r.alone(t)
	c.state = was
	return ok
}

// exit ends a thread; its last part waits for the join.
func (r *Recogniser) exit(t *thread, op *Op) {
	t.piece(op)
	if op.Final {
		r.final = op.Site.Place()
	}
	at := op.At
	if t.state == waiting || t.state == joining {
		at = t.wait.at
	}
	if t.state == arrived && t.at != nil && t.at.complete {
		r.leave(t, op)
	}
	for len(t.open) > 1 {
		t.pop()
	}
	r.leaveEarly(t)
	p := t.close(at, op.Site)
	if t.state != idle {
		t.exit = &p
	}
	t.state = gone
	r.ends(t)
	if op.Loose {
		r.letGo(t)
	}
	for _, key := range sortedKeys(r.cuts) {
		r.emitCuts(r.cuts[key])
	}
}

// joinBegin ends the parent's part of the group, if it is the group's first join.
func (r *Recogniser) joinBegin(t *thread, op *Op) {
	t.piece(op)
	t.state = joining
	t.wait = waitState{at: op.At, site: op.Site}
	g := t.groupOf(op.Other)
	if g == nil {
		return
	}
	g.begin = op.At
	if g.parent == nil {
		p := t.close(op.At, op.Site)
		g.parent = &p
	}
}

func (t *thread) groupOf(member ThreadID) *group {
	for i := len(t.groups) - 1; i >= 0; i-- {
		if t.groups[i].members[member] {
			return t.groups[i]
		}
	}
	return nil
}

// joinEnd takes the joined thread's last part; the group's last join hands it out.
func (r *Recogniser) joinEnd(t *thread, op *Op) {
	t.state = running
	g := t.groupOf(op.Other)
	if g == nil || len(g.members) > 1 { // its part goes on behind the wait
		t.top().idle += op.At - min(op.At, max(t.wait.at, t.top().start))
	}
	if g == nil {
		r.foreignJoin(t, op)
		return
	}
	g.note(t.wait.site.outside(), op.At-g.begin)
	delete(g.members, op.Other)
	if c := r.threads[op.Other]; c != nil && c.last() != nil {
		c.exit.Release = op.At
		g.joined = append(g.joined, *c.exit)
		c.exit = nil
	}
	if len(g.members) == 0 {
		r.finishGroup(t, g, op.At)
	}
}

// foreignJoin is the join of a thread that another one created: a group of its own.
func (r *Recogniser) foreignJoin(t *thread, op *Op) {
	c := r.threads[op.Other]
	if c == nil || c.exit == nil {
		return
	}
	p := *c.last()
	c.exit = nil
	r.finish(Instance{Kind: Join, Place: t.wait.site.outside(), Parts: []Part{p}})
}

// note remembers how long a join call was waited at; the longest names the section.
func (g *group) note(place unit.Addr, waited unit.Cycles) {
	g.sites[place] += waited
	best := g.sites[g.place]
	if _, known := g.sites[g.place]; !known || g.sites[place] > best {
		g.place = place
	}
}

// finishGroup hands the joined threads out as one instance and lets the parent
// go on.
func (r *Recogniser) finishGroup(t *thread, g *group, at unit.Cycles) {
	parts := g.joined
	g.joined = nil
	r.holding.unifyJoined(parts)
	if g.parent != nil && g.takesPart(parts) {
		parts = append(parts, *g.parent)
	}
	g.parent = nil
	nested, waited := len(g.members) == 0 && g.pushed, t.top().idle
	if len(g.members) == 0 {
		r.dropGroup(t, g)
	}
	switch {
	case t.state == gone:
	case nested: // the part around it began before, and goes on; what it waited in here is no work of its either
		t.top().idle += waited + at - min(at, t.wait.at)
	default:
		t.begin(at)
		t.top().idle = 0
	}
	if parts = r.unseen(parts); len(parts) > 0 {
		r.finish(Instance{Kind: Join, Place: g.place, Parts: parts})
	}
	g.sites, g.place = map[unit.Addr]unit.Cycles{}, 0
}

func (r *Recogniser) dropGroup(t *thread, g *group) {
	for i, x := range t.groups {
		if x == g {
			t.groups = append(t.groups[:i], t.groups[i+1:]...)
			break
		}
	}
	if g.pushed {
		t.pop()
	}
}

// parentShare is how much a parent must have worked, against the slowest of its
// threads, to count as one of the workers and not only as their keeper.
const parentShare = 10

// takesPart decides whether the parent is one of the workers. Where its threads fill all cores, it
// may be kept from its first join for long, but that is no work.
func (g *group) takesPart(parts []Part) bool {
	var most unit.Cycles
	beside := false // it worked while one of them did its last part
	for i := range parts {
		most = max(most, parts[i].onCore())
		beside = beside || parts[i].Start < g.parent.Arrive
	}
	return g.shared || beside && g.parent.onCore()*parentShare >= most
}

// markShared notes for every open group whether its parent shared this section
// with a member.
func (r *Recogniser) markShared(parts []Part) {
	for i := range parts {
		for _, g := range r.threads[parts[i].Thread].groups {
			for k := range parts {
				g.shared = g.shared || g.members[parts[k].Thread]
			}
		}
	}
}
