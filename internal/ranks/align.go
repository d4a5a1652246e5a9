package ranks

import "sort"

// Each rank has a clock of its own. What they have in common is that nobody leaves a barrier before
// all have come: so the clocks are set.

// line is what one rank did, in the order in which it did it.
type line struct {
	rank   int
	visits []visit
	next   int    // the visit that is to be set on the common clock
	now    uint64 // that clock, behind the visit before
	local  uint64 // the rank's own clock there, while its profile is read
	index  int32  // among all lines
}

// align sets all visits on one clock, on which work takes what it took and a wait as long as what
// is waited for. It returns how many meetings had to be passed with ranks missing: by ranks of
// other runs, or by operations that lime does not see.
func align(lines []*line) (passed int) {
	var open []*line
	for i := len(lines) - 1; i >= 0; i-- {
		open = append(open, lines[i])
	}
	for {
		for len(open) > 0 {
			l := open[len(open)-1]
			open = open[:len(open)-1]
			open = append(open, l.step(lines)...)
		}
		stuck := firstStuck(lines)
		if stuck == nil {
			return passed
		}
		passed++
		if v := &stuck.visits[stuck.next]; v.meet == nil {
			stuck.leave(v, v.arrive)
			open = append(open, stuck)
		} else {
			open = v.meet.pass(lines)
		}
	}
}

// step lets a rank come to its next meeting. If it is the last one to come, all go on.
func (l *line) step(lines []*line) []*line {
	if l.next == len(l.visits) {
		return nil
	}
	v := &l.visits[l.next]
	v.arrive = l.now + v.work
	if v.meet == nil {
		return l.deliver(v)
	}
	m := v.meet
	if m.done { // the others have gone without it
		v.release = v.arrive
		l.now, l.next = v.release, l.next+1
		return []*line{l}
	}
	if v.here { // it has been counted
		return nil
	}
	v.here = true
	if m.came++; m.came < len(m.who)+len(m.also) {
		return nil
	}
	return m.pass(lines)
}

// pass lets those go on who stand at the meeting: at once, or when those have come for whom they
// wait.
func (m *meet) pass(lines []*line) (on []*line) {
	m.done = true
	last := uint64(0)
	m.standing(lines, func(l *line, v *visit) {
		if at := v.arrive - min(v.early, v.arrive); v.role.Feeds() && at >= last {
			last, m.cause = at, end{l, l.next}
		}
	})
	m.standing(lines, func(l *line, v *visit) {
		v.release = v.arrive
		if v.role.Waits() {
			v.release = max(v.arrive, last)
		}
		if v.mail == nil {
			v.release += m.least
		}
		l.now, on = v.release, append(on, l)
	})
	for _, l := range on {
		l.next++
	}
	return on
}

// standing calls each for every rank that stands at the meeting.
func (m *meet) standing(lines []*line, each func(*line, *visit)) {
	for i, k := range m.who {
		if l := lines[k]; l.next == int(m.nth[i]) {
			each(l, &l.visits[l.next])
		}
	}
	for _, e := range m.also {
		if e.line.next == e.visit {
			each(e.line, &e.line.visits[e.visit])
		}
	}
}

// firstStuck finds the rank that came first of those that wait in vain; nil if there is none.
func firstStuck(lines []*line) (stuck *line) {
	for _, l := range lines {
		if l.next < len(l.visits) && (stuck == nil || l.visits[l.next].arrive < stuck.visits[stuck.next].arrive) {
			stuck = l
		}
	}
	return stuck
}

// common is a time of the rank's own clock on the common one: as much later than it left its last
// meeting.
func (l *line) common(local uint64) uint64 {
	n := l.met(local)
	if n == 0 {
		return local
	}
	v := &l.visits[n-1]
	return v.release + (local - v.local)
}

// working is a time of the rank's own clock, at which it was at work, on the common one: as long
// before it came to its next meeting.
func (l *line) working(local uint64) uint64 {
	n := l.met(local)
	if n == len(l.visits) {
		return l.common(local)
	}
	v := &l.visits[n]
	if local > v.came {
		return min(v.arrive+(local-v.came), v.release)
	}
	at := v.arrive - min(v.came-local, v.arrive)
	if n > 0 {
		at = max(at, l.visits[n-1].release)
	}
	return at
}

// met is how many meetings the rank had left at a time of its own clock.
func (l *line) met(local uint64) int {
	return sort.Search(len(l.visits), func(i int) bool { return l.visits[i].local > local })
}
