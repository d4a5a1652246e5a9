package section

import "lime/internal/unit"

// waitState is a thread's present or last wait.
type waitState struct {
	at      unit.Cycles
	site    Site
	object  uint64
	untyped bool
	mark    mark
	took    mark        // over: what it added to the part's waits
	resumed unit.Cycles // when it ended
	over    bool
	idle    bool     // over: it was for work to do
	lock    bool     // over: it was a lock's
	named   *release // that let the thread go last, though it may not have gone on yet
	done    bool     // it ended a section
	by      ThreadID // done: who opened that barrier, and how many parts it had closed by then
	byParts int
}

// mark is a point inside an open part, at which the part may be split later.
type mark struct {
	spans     int
	lock, off unit.Cycles
	idle      unit.Cycles
	part      *openPart
	closed    int // thread.parts when it was set
}

func (t *thread) mark() mark {
	o := t.top()
	return mark{spans: len(o.spans), lock: o.lock, off: o.off, idle: o.idle, part: o, closed: t.parts}
}

// valid reports whether the part that m points into is still open.
func (t *thread) valid(m mark) bool {
	return m.part == t.top() && m.closed == t.parts && m.spans <= len(m.part.spans)
}

// split closes the open part at m; what came after it starts the next part, at start. A wait that
// began there is of neither.
func (t *thread) split(m mark, at, start unit.Cycles, site Site) Part {
	o, next := *t.top(), t.top()
	next.spans, next.lock, next.off, next.idle = o.spans[:m.spans:m.spans], m.lock, m.off, m.idle
	took := mark{}
	if m == t.wait.mark && t.wait.over {
		took = t.wait.took
	}
	p := t.close(at, site)
	next.spans, next.start = o.spans[m.spans:], start
	next.lock, next.off, next.idle = o.lock-m.lock-took.lock, o.off-m.off-took.off, o.idle-m.idle-took.idle
	return p
}

// waitBegin is provisional: the wait may turn out to end a section, or not.
func (r *Recogniser) waitBegin(t *thread, op *Op) {
	r.cancel(t)
	if op.Again {
		r.holding.again(t)
	}
	for _, p := range t.open {
		p.off -= min(p.off, op.N)
	}
	t.piece(op)
	t.state = waiting
	t.wait = waitState{at: op.At, site: op.Site, object: op.Object, untyped: op.Untyped, mark: t.mark()}
}

// waitEnd resumes. Time in a wait that ended no section is part of the section around it, if it was
// not for work to do.
func (r *Recogniser) waitEnd(t *thread, op *Op) {
	if t.state != waiting {
		return
	}
	t.state = running
	t.wait.resumed, t.wait.over, t.wait.idle, t.wait.lock = op.At, true, op.Idle, op.Lock
	if t.wait.done {
		t.begin(op.At)
		return
	}
	for _, p := range t.open {
		was := *p
		switch waited := op.At - max(t.wait.at, min(p.start, op.At)); {
		case op.Lock:
			p.lock += waited
		case op.Idle:
			p.idle += waited
		default:
			p.off += waited
		}
		if p == t.top() {
			t.wait.took = mark{lock: p.lock - was.lock, off: p.off - was.off, idle: p.idle - was.idle}
		}
	}
}

// release is one thread ending the waits of others. A barrier that wakes its waiters
// one by one takes several operations.
type release struct {
	by     ThreadID
	at     unit.Cycles
	object uint64
	site   Site
	mark   mark
	woken  map[ThreadID]bool
	quorum []ThreadID // who waited when it began
	global bool       // nobody else worked when it began
	handed bool       // Op.Handed
	peer   bool       // Op.Peer
	one    bool       // Op.One, and nobody else has been let go
}

// release looks whether this is the moment at which a barrier opens.
func (r *Recogniser) release(t *thread, op *Op) {
	t.piece(op)
	r.noteThrough(op.Through)
	if r.alreadyOpened(t, op.Woken) || t.state == waiting && (t.wait.done || !t.valid(t.wait.mark)) {
		return
	}
	p := r.pending
	if p == nil || p.by != t.id || p.object != op.Object && p.object != 0 || !t.valid(p.mark) {
		p = r.newRelease(t, op)
		r.pending = p
	}
	p.object, p.handed, p.peer = op.Object, p.handed || op.Handed, p.peer || op.Peer
	for _, id := range op.Woken {
		p.woken[id] = true
	}
	p.one = op.One && len(p.woken) == 1
	opens := !r.holding.overtaken(p) && r.opens(p)
	r.noteDealer(t, op.Woken)
	p.names(r.threads, op.Woken)
	if opens {
		r.pending = nil
		r.opened(t, p)
	}
}

// names notes whom the release lets go.
func (p *release) names(threads map[ThreadID]*thread, woken []ThreadID) {
	for _, id := range woken {
		if q := threads[id]; q != nil {
			q.wait.named = p
		}
	}
}

// alreadyOpened reports whether t has opened a barrier for all of these already: it
// only wakes them one by one, each at an object of its own.
func (r *Recogniser) alreadyOpened(t *thread, woken []ThreadID) bool {
	for _, id := range woken {
		q := r.threads[id]
		if q == nil || !q.wait.done || q.wait.by != t.id || q.wait.byParts != t.parts {
			return false
		}
	}
	return len(woken) > 0
}

func (r *Recogniser) newRelease(t *thread, op *Op) *release {
	p := &release{by: t.id, at: op.At, object: op.Object, site: op.Site, mark: t.mark(), woken: map[ThreadID]bool{}, global: true}
	if t.state == waiting { // it has let others go before it began to wait itself
		p.at, p.site, p.mark = t.wait.at, t.wait.site, t.wait.mark
	}
	for _, o := range r.order {
		switch {
		case o == t || o.state == gone || o.state == joining || o.state == idle || o.through:
		case o.state == waiting:
			p.quorum = append(p.quorum, o.id)
		default:
			p.global = false
		}
	}
	return p
}

// cancel drops a release under way that t's new wait shows to be none of a barrier.
func (r *Recogniser) cancel(t *thread) {
	if p := r.pending; p != nil && (p.by == t.id || p.woken[t.id]) {
		r.pending = nil
	}
}

// opens decides whether the release is a barrier's: all who waited for the same
// object are woken, and either nobody else works, or the releasing thread came to the
// same place as those whom it wakes.
func (r *Recogniser) opens(p *release) bool {
	waiters, untyped := 0, false
	for _, id := range p.quorum {
		w := &r.threads[id].wait
		if w.object == p.object && !p.woken[id] {
			return false
		}
		if p.woken[id] {
			if w.named != nil && w.named != p {
				return false // it has not come out since others let it go: it cannot have come to a barrier anew
			}
			waiters++
			untyped = untyped || w.untyped
		}
	}
	if waiters == 0 || untyped && len(p.quorum) < 2 || p.peer {
		return false
	}
	if r.symmetric(p) {
		return p.global && !p.one || waiters >= 2
	}
	return p.global && (r.deals(p) || r.answers(p))
}

// symmetric reports whether the releasing thread stands in the function in which the woken ones
// waited, or came there by the same call. A call through a pointer is the same only if it went to
// the same function: all threads of some programs begin with one.
func (r *Recogniser) symmetric(p *release) bool {
	if p.handed {
		return false
	}
	for _, id := range p.quorum {
		if p.woken[id] && !sameFunction(r.threads[id].wait.site, p.site) {
			return false
		}
	}
	return true
}

func sameFunction(a, b Site) bool {
	if len(a.Stack) == 0 || len(b.Stack) == 0 {
		return false
	}
	if a.Stack[0].Func == b.Stack[0].Func {
		return true
	}
	for i, f := range a.Stack { // the innermost, too: what was called there may have jumped on to the wait
		for k, g := range b.Stack {
			if f.Call == g.Call && (i == 0 || k == 0 || a.Stack[i-1].Func == b.Stack[k-1].Func) {
				return true
			}
		}
	}
	return false
}

func (s Site) has(call unit.Addr) bool {
	for _, f := range s.Stack {
		if f.Call == call {
			return true
		}
	}
	return false
}

// opened closes the parts of all who took part.
func (r *Recogniser) opened(t *thread, p *release) {
	r.holding.unify(p)
	e := &builtEpisode{dealt: !r.symmetric(p)}
	for _, id := range p.quorum {
		if part, ok := r.waiter(p, r.threads[id]); ok {
			if p.woken[id] {
				e.woken = append(e.woken, len(e.parts))
			}
			e.parts = append(e.parts, part)
		} else if p.woken[id] {
			e.place = r.threads[id].wait.site.Place() // it has waited through other sections
			e.outside = r.threads[id].wait.site.outside()
		}
	}
	e.releaser = len(e.parts)
	e.parts = append(e.parts, t.split(p.mark, p.at, p.at, p.site))
	if t.state == waiting {
		t.wait.done, t.wait.by, t.wait.byParts = true, t.id, t.parts
	}
	r.takeEnded(e, p)
	for _, id := range p.quorum {
		if w := &r.threads[id].wait; w.done && w.byParts == 0 {
			w.by, w.byParts = t.id, t.parts
		}
	}
	before := r.openings[p.object]
	r.dropLate(e, p)
	e.call, e.fn, e.decided = e.locate()
	r.holding.hold(e, p, before)
}

// leaveEarly closes the part of a thread that has been woken by a release that still goes on, and
// ends.
func (r *Recogniser) leaveEarly(t *thread) {
	p := r.pending
	if p == nil || !p.woken[t.id] || t.wait.done || !t.valid(t.wait.mark) || !t.wait.over {
		return
	}
	part := t.split(t.wait.mark, t.wait.at, t.wait.resumed, t.wait.site)
	t.early = &part
}

// last is what a thread that has ended did last: with what came before its last wait, if that
// turned out to end no section.
func (t *thread) last() *Part {
	if e := t.early; e != nil && t.exit != nil {
		x := t.exit
		switch between := x.Start - e.Arrive; {
		case t.wait.idle:
			x.Arrive -= between
		case t.wait.lock:
			x.LockWait += between
		default:
			x.OffCPU += between
		}
		x.OffCPU, x.LockWait = x.OffCPU+e.OffCPU, x.LockWait+e.LockWait
		x.Start, x.Spans, x.first = e.Start, append(e.Spans, x.Spans...), e.first
		t.early = nil
	}
	return t.exit
}

// waiter closes the part of one who waited, unless it has been waiting since
// an earlier section, or does not belong to this barrier.
func (r *Recogniser) waiter(p *release, q *thread) (Part, bool) {
	if q.early != nil && p.woken[q.id] {
		part := *q.early
		q.early = nil
		return part, true
	}
	if q.wait.done || !p.global && !p.woken[q.id] || !q.valid(q.wait.mark) {
		return Part{}, false
	}
	q.wait.done = true
	start := p.at
	if q.wait.over {
		start = q.wait.resumed
	}
	return q.split(q.wait.mark, q.wait.at, start, q.wait.site), true
}

// Ended reports whether the thread's last wait ended a section.
func (r *Recogniser) Ended(id ThreadID) bool {
	t := r.threads[id]
	return t != nil && t.wait.done
}

// Resume sets the beginning of the part of a thread whose last wait ended a section: it is not
// before now that it goes on.
func (r *Recogniser) Resume(id ThreadID, at unit.Cycles) {
	if t := r.threads[id]; t != nil && t.wait.done && t.state == running && len(t.top().spans) == 0 {
		t.begin(at)
	}
}

// Working reports whether the thread is in a part, and not waiting at the end of one.
func (r *Recogniser) Working(id ThreadID) bool {
	t := r.threads[id]
	return t != nil && t.state == running
}

// Parts is how many parts of the thread have ended.
func (r *Recogniser) Parts(id ThreadID) int {
	if t := r.threads[id]; t != nil {
		return t.parts
	}
	return 0
}
