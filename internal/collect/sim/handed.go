// Whether what threads wait for at a place is handed from one to the next, as a lock is, or lets all
// go on together, as a barrier does.
//
// Who opens a barrier is in it: it has come past the place in front of the loop, and not yet past
// the loop, to where those whom it lets go are about to go on. Who gives back a lock has come past
// both, and been at work since. There are barriers in which a thread first lets the others go, and
// then comes past the place; it never waits there, for it has just done what is waited for, while
// who has given back a lock finds it taken by the one that it let go.

package sim

import "slices"

// letting is that a thread has let another one go, but not on its way through the place at which
// that one waited.
type letting struct {
	point  uint64
	object uint64
	bytes  int
	value  uint64 // that it left there
	at     uint64 // instructions, no later than when it did
	passed bool   // it came past the place then
}

// handedOn reports whether what s waited for, and by has now done, is handed on, or may be. That
// others leave their loops at once is a sign that it is not.
func (wk *waking) handedOn(s *spinner, by *thread, together int) bool {
	if g := s.t.watchedCandidate(); g != nil && g.holds() {
		if by == nil || by.inside(g) {
			return false // flags that pass from one to the next in a function that may be a barrier
		}
		wk.barriers.refute(g)
		wk.handed[s.call] = true
	}
	if wk.othersStay(s) {
		wk.handed[s.call] = true
	}
	if wk.handed[s.call] {
		return true
	}
	p := wk.passPoints.points[s.point]
	if p == nil || by == nil || by.ctx == nil {
		return false
	}
	passed, through := wk.wayOf(by, s, together)
	if passed && !through || !passed && together > 1 {
		return false
	}
	by.let = wk.letting(s, by)
	return !p.together
}

// othersStay reports whether others, who wait at the same place as one who is let go, wait on.
func (wk *waking) othersStay(s *spinner) bool {
	return slices.ContainsFunc(wk.spinners.parked, func(o *spinner) bool {
		return o.reported && o != s && o.call == s.call && o.point == s.point
	})
}

// wayOf reports whether a thread has come past the place at which s waited, or past another one for
// the same word, and whether it had come through to where those go on who have waited there.
func (wk *waking) wayOf(by *thread, s *spinner, together int) (passed, through bool) {
	x := by.pass
	if x == nil {
		return false, false
	}
	p := wk.passPoints.points[x.pc]
	if p == nil || x.pc != s.point && (p.object != s.object || p.several) {
		return false, false
	}
	return true, wk.cameThrough(by, s, p, together)
}

// cameTo reports whether a thread has come to one of some blocks since its last passage.
func (sg *segments) cameTo(t *thread, heads []uint64) bool {
	var since segment
	sg.drain(t, &since)
	t.keepFor(&since)
	edges, blocks := sg.eng.Edges(), sg.eng.Blocks()
	return slices.ContainsFunc(t.carry, func(e edgeCount) bool {
		to := edges[e.id].To
		return to >= 0 && slices.Contains(heads, blocks[to].PC)
	})
}

func (wk *waking) letting(s *spinner, by *thread) *letting {
	l := &letting{point: s.point, object: s.object, at: by.retired}
	for i := range s.loop.Watches {
		if w := &s.loop.Watches[i]; w.Addr == s.object {
			l.bytes = w.Bytes
		}
	}
	l.value, _ = wk.memory.value(l.object, l.bytes)
	return l
}

// leftBy notes where a thread goes on that has waited behind a point, and for what.
func (p *point) leftBy(s *spinner) {
	if p.object != 0 && p.object != s.object {
		p.several = true
	}
	p.object = s.object
	if s.out != 0 && !slices.Contains(p.exits, s.out) {
		p.exits = append(p.exits, s.out)
	}
}

// seenPassing notes that a thread comes past a place. If it has let somebody go just before, and
// comes by again after it has come through, without a wait, they went through together.
func (ps *passes) seenPassing(t *thread, pc uint64, p *point) {
	l := t.let
	if l == nil || l.point != pc {
		return
	}
	if l.passed {
		p.together, t.let = p.together || ps.segments.cameTo(t, p.exits), nil
		return
	}
	v, ok := ps.memory.value(l.object, l.bytes)
	if l.passed = ok && v == l.value && ps.eng.Retired(t.ctx)-l.at <= wayIn; !l.passed {
		t.let = nil
	}
}
