package section

import "lime/internal/unit"

// episode is one passage of a barrier. It is complete as soon as anyone
// leaves: nobody leaves before the last party has arrived.
type episode struct {
	kind     Kind
	place    unit.Addr
	parts    []Part
	left     int
	meeting  any
	complete bool
}

func newEpisode(kind Kind, place unit.Addr) *episode {
	return &episode{kind: kind, place: place}
}

// arrive ends t's part at a barrier.
func (r *Recogniser) arrive(t *thread, op *Op) {
	e := r.barriers[op.Object]
	if e == nil || e.complete {
		e = newEpisode(barrierKind(op), op.Site.Place())
		e.meeting = op.Meeting
		e.parts = make([]Part, 0, r.widest)
		r.barriers[op.Object] = e
	}
	t.piece(op)
	t.at, t.atPart, t.state, t.waits = e, len(e.parts), arrived, op.At
	e.parts = append(e.parts, t.close(op.At, op.Site))
}

func barrierKind(op *Op) Kind {
	switch {
	case op.Meeting != nil:
		return Meeting
	case op.Built:
		return Built
	}
	return Barrier
}

// leave starts t's next part; the last one to leave finishes the instance.
func (r *Recogniser) leave(t *thread, op *Op) {
	e := t.at
	if e == nil {
		return
	}
	t.waitedAround(op.At, t.open[:len(t.open)-1])
	t.at, t.state = nil, running
	t.begin(op.At)
	e.parts[t.atPart].Release = op.At
	e.complete = true
	e.left++
	if e.left == len(e.parts) {
		r.emitEpisode(e)
		if r.barriers[op.Object] == e {
			delete(r.barriers, op.Object)
		}
	}
}

func (r *Recogniser) emitEpisode(e *episode) {
	r.finish(Instance{Kind: e.kind, Place: e.majority(), Parts: e.parts, Meeting: e.meeting})
	e.parts = nil
}

// majority is the place at which most threads arrived; the lowest on a tie.
func (e *episode) majority() unit.Addr { return majorityPlace(e.parts, e.place) }

func majorityPlace(parts []Part, otherwise unit.Addr) unit.Addr {
	if len(parts) > 0 && onePlace(parts) {
		return parts[0].site.Place()
	}
	n := map[unit.Addr]int{}
	best := otherwise
	for i := range parts {
		n[parts[i].site.Place()]++
	}
	for i := range parts {
		a := parts[i].site.Place()
		if n[a] > n[best] || n[a] == n[best] && a < best {
			best = a
		}
	}
	return best
}

// onePlace reports whether all arrived at the same place.
func onePlace(parts []Part) bool {
	for i := 1; i < len(parts); i++ {
		if parts[i].site.Place() != parts[0].site.Place() {
			return false
		}
	}
	return true
}

// finishBarrier hands out an episode that some threads never left.
func (r *Recogniser) finishBarrier(key uint64) {
	e := r.barriers[key]
	delete(r.barriers, key)
	if e != nil && len(e.parts) > 0 && e.complete {
		r.emitEpisode(e)
	}
}
