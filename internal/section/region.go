package section

import (
	"slices"

	"lime/internal/unit"
)

// region is one parallel region: a fork, the members' work, its end.
type region struct {
	place  unit.Addr
	master ThreadID
	serial bool // the master was alone when it forked
	parts  []Part
	done   bool
	late   int // members that have not come back from a task, though it has ended
}

// fork opens a region. If the forking thread was alone, a serial stretch ends.
func (r *Recogniser) fork(t *thread, op *Op) {
	g := &region{place: op.Site.outside(), master: t.id, serial: r.alone(t) && len(t.open) == 1 && len(t.region) == 0}
	t.piece(op)
	if g.serial {
		r.serial(t, op)
	} else {
		t.push(op.At)
	}
	r.regions[op.Object] = g
	t.region = append(t.region, op.Object)
}

// member begins a thread's work for a region. What it did, and waited, on its way there is the
// runtime's.
func (r *Recogniser) member(t *thread, op *Op) {
	g := r.regions[op.Object]
	if g == nil {
		return
	}
	t.top().clear()
	if t.id != g.master {
		t.region = append(t.region, op.Object)
	}
	t.state = running
	t.begin(op.At)
}

// memberEnd is a member's arrival at the region's end.
func (r *Recogniser) memberEnd(t *thread, op *Op) {
	t.piece(op)
	g := r.regions[op.Object]
	if g == nil {
		return
	}
	if g.parts == nil {
		g.parts = make([]Part, 0, r.widest)
	}
	t.ended, t.endPart = g, len(g.parts)
	g.parts = append(g.parts, t.close(op.At, op.Site))
	t.leaveRegion(op.Object)
	if t.id == g.master {
		t.state, t.waits = arrived, op.At
	} else {
		t.state = idle
	}
}

// waitedAround tells the parts around the section at whose end t has waited until now, which go on: its
// wait is no work of theirs either.
func (t *thread) waitedAround(until unit.Cycles, around []*openPart) {
	if t.state != arrived {
		return
	}
	for _, p := range around {
		p.idle += until - min(max(t.waits, p.start), until)
	}
}

func (t *thread) leaveRegion(id uint64) {
	if n := len(t.region); n > 0 && t.region[n-1] == id {
		t.region = t.region[:n-1]
	}
}

// regionEnd hands the region out: its master goes on, so all members are done.
func (r *Recogniser) regionEnd(t *thread, op *Op) {
	g := r.regions[op.Object]
	if g == nil {
		return
	}
	delete(r.regions, op.Object)
	if !g.serial {
		t.pop()
		t.waitedAround(op.At, t.open)
	} else {
		t.top().clear()
		t.begin(op.At)
	}
	t.state = running
	for i := range g.parts {
		g.parts[i].Release = op.At
		if q := r.threads[g.parts[i].Thread]; q.task.open && q.ended == g && q.endPart == i {
			g.late++
			q.state = q.task.was
		}
	}
	g.done = true
	if g.late > 0 {
		r.unreturned = append(r.unreturned, g)
		return
	}
	r.finish(g.instance())
}

func (g *region) instance() Instance { return Instance{Kind: Region, Place: g.place, Parts: g.parts} }

// unreturned is the regions that have ended while some of their members were still in a task: it had
// been done by then, and who gave it out knew.
type unreturned []*region

// returned notes that one of those has come back; true if it was a region's last.
func (u *unreturned) returned(g *region) bool {
	if g.late--; g.late > 0 {
		return false
	}
	*u = slices.DeleteFunc(*u, func(o *region) bool { return o == g })
	return true
}

// cutSeries counts the passages of a place that the user declared to end sections.
type cutSeries struct {
	passed map[ThreadID]int
	open   map[int]*episode
	next   int
}

// cut ends t's part at a declared place. The k-th passages of all threads form
// an instance.
func (r *Recogniser) cut(t *thread, op *Op) {
	s := r.cuts[op.Object]
	if s == nil {
		s = &cutSeries{passed: map[ThreadID]int{}, open: map[int]*episode{}}
		r.cuts[op.Object] = s
	}
	k := s.passed[t.id]
	s.passed[t.id]++
	e := s.open[k]
	if e == nil {
		e = newEpisode(Custom, op.Site.Place())
		s.open[k] = e
	}
	t.piece(op)
	e.parts = append(e.parts, t.close(op.At, op.Site))
	r.emitCuts(s)
}

// emitCuts hands out the instances that every thread that still works has passed.
func (r *Recogniser) emitCuts(s *cutSeries) {
	for s.open[s.next] != nil && r.allPassed(s, s.next) {
		r.emitEpisode(s.open[s.next])
		delete(s.open, s.next)
		s.next++
	}
}

func (r *Recogniser) allPassed(s *cutSeries, k int) bool {
	for _, t := range r.order {
		if t.state != gone && t.state != joining && t.state != idle && s.passed[t.id] <= k {
			return false
		}
	}
	return true
}

func (r *Recogniser) closeCuts() {
	for _, key := range sortedKeys(r.cuts) {
		s := r.cuts[key]
		for ; s.open[s.next] != nil; s.next++ {
			r.emitEpisode(s.open[s.next])
		}
	}
}
