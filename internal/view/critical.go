// The critical path: from the end of the run back to its beginning, always along the thread for
// which the others waited.

package view

import (
	"cmp"
	"slices"

	"lime/internal/profile"
)

// stepKind says what a thread does in a step of the critical path.
type stepKind int32

const (
	stepWork    stepKind = iota // the time of a part: its waits for locks are in it
	stepRelease                 // from the last arrival, or end of a thread, to the release: nobody is waited for any more
	stepUnknown                 // between parts: the profile does not say
)

// step is a stretch of the critical path.
type step struct {
	from, to     uint64
	thread       int32
	kind         stepKind
	section, seq int32 // -1 between parts
}

// trail is a lane on which the path is walked back. Moments are asked for from the last to the
// first.
type trail struct {
	lane  *lane
	outer []int32 // by part: the part inside of which it begins, or -1
}

func newTrail(l *lane) *trail {
	t := &trail{lane: l, outer: make([]int32, len(l.cells))}
	var open []int32
	for i := range l.cells {
		for len(open) > 0 && l.cells[open[len(open)-1]].end() <= l.cells[i].start {
			open = open[:len(open)-1]
		}
		t.outer[i] = -1
		if len(open) > 0 {
			t.outer[i] = open[len(open)-1]
		}
		open = append(open, int32(i))
	}
	return t
}

// before finds the part in which the thread is just before a moment, and since when nothing hides
// it. Without a part, since is when the one before it ended; first tells that there is none before
// it.
func (t *trail) before(at uint64) (c *cell, since uint64, first bool) {
	n, _ := slices.BinarySearchFunc(t.lane.cells, at, func(c cell, at uint64) int { return cmp.Compare(c.start, at) })
	for k := int32(n) - 1; k >= 0; k = t.outer[k] {
		c := &t.lane.cells[k]
		if end := c.end(); end < at {
			since = max(since, end)
			continue
		}
		return c, max(since, c.start), false
	}
	return nil, since, n == 0
}

// walker walks the path back.
type walker struct {
	x       *index
	threads []profile.Thread
	trails  []*trail
	joins   map[int32][]joined // by the thread that made those that ended
	steps   []step             // from the last to the first
	thread  int32
	at      uint64
}

// joined is the last end of threads that were joined together.
type joined struct {
	at     uint64
	thread int32
}

// joins finds the ends of threads that were joined. Who joins them is in no part of the instance:
// it is taken to be the thread that made them, where that is in no section meanwhile.
func (x *index) joins(t *profile.Tables) map[int32][]joined {
	out := map[int32][]joined{}
	if !slices.ContainsFunc(t.Sections, func(s profile.Section) bool { return s.Kind == profile.SectionJoin }) {
		return out
	}
	for i := range x.lanes {
		parent := int32(t.Threads[i].Parent)
		for k := range x.lanes[i].cells {
			c := &x.lanes[i].cells[k]
			if parent >= 0 && t.Sections[c.section].Kind == profile.SectionJoin && x.sections[c.section].last[c.seq] == int32(i) {
				out[parent] = append(out[parent], joined{c.arrive(), int32(i)})
			}
		}
		x.drop(x.lanes[i : i+1])
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b joined) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.thread, b.thread)) })
	}
	return out
}

// critical returns the critical path, from the beginning to the end.
func (x *index) critical(t *profile.Tables) []step {
	w := &walker{x: x, threads: t.Threads, trails: make([]*trail, len(x.lanes)), joins: x.joins(t), thread: -1}
	for i := range x.lanes {
		if l := &x.lanes[i]; len(l.cells) > 0 && (w.thread < 0 || l.until > w.at) {
			w.thread, w.at = int32(i), l.until
		}
	}
	for still := 0; w.thread >= 0 && w.at > x.from; {
		was := w.at
		w.back()
		if w.at < was {
			still = 0
		} else if still++; still > len(x.lanes) { // parts without length that wait for one another in a ring
			w.to(w.at-1, stepUnknown, nil)
		}
	}
	x.drop(x.lanes)
	slices.Reverse(w.steps)
	return w.steps
}

// back goes one step back: to the beginning of what the thread does, or to the thread that it
// waited for.
func (w *walker) back() {
	if w.trails[w.thread] == nil {
		w.trails[w.thread] = newTrail(&w.x.lanes[w.thread])
		w.x.drop(w.x.lanes[w.thread : w.thread+1])
	}
	c, since, first := w.trails[w.thread].before(w.at)
	switch {
	case first:
		w.started()
	case c == nil:
		w.gap(since)
	case w.at <= c.arrive():
		w.to(since, stepWork, c)
	default:
		w.released(c, max(since, c.arrive()))
	}
}

// to ends the step that leads here.
func (w *walker) to(at uint64, kind stepKind, c *cell) {
	at = max(at, w.x.from)
	if at >= w.at {
		return
	}
	s := step{from: at, to: w.at, thread: w.thread, kind: kind, section: -1, seq: -1}
	if c != nil {
		s.section, s.seq = c.section, c.seq
	}
	w.steps = append(w.steps, s)
	w.at = at
}

// released goes from a thread that waits, since its arrival or since something else that it did
// meanwhile, to the one that came last.
func (w *walker) released(c *cell, since uint64) {
	last := w.x.sections[c.section].last[c.seq]
	if last == w.thread || last < 0 || int(last) >= len(w.x.lanes) {
		w.to(since, stepRelease, c)
		return
	}
	came, ok := w.x.lanes[last].arrival(c.section, c.seq, w.at)
	if !ok || came <= since { // it did something else before it went on
		w.to(since, stepRelease, c)
		return
	}
	w.to(came, stepRelease, c)
	w.thread = last
}

// arrival is when a thread came to the end of an instance that had ended by a moment.
func (l *lane) arrival(section, seq int32, by uint64) (uint64, bool) {
	for i := l.from(by); i < len(l.cells) && l.cells[i].start <= by; i++ {
		if c := &l.cells[i]; c.section == section && c.seq == seq {
			return min(c.arrive(), by), true
		}
	}
	return 0, false
}

// gap goes back over a time of which the profile says nothing but, perhaps, that threads ended
// which this one had made.
func (w *walker) gap(since uint64) {
	list := w.joins[w.thread]
	n, _ := slices.BinarySearchFunc(list, w.at, func(j joined, at uint64) int {
		if j.at <= at {
			return -1
		}
		return 1
	})
	if n > 0 && list[n-1].at > since {
		w.to(list[n-1].at, stepRelease, nil)
		w.thread = list[n-1].thread
		return
	}
	w.to(since, stepUnknown, nil)
}

// started goes from a thread before its first part to the one that made it, if that is known.
func (w *walker) started() {
	t := &w.threads[w.thread]
	begin := max(w.x.from, min(t.Start, w.at))
	if parent := t.Parent; begin > w.x.from && parent >= 0 && int(parent) < len(w.x.lanes) && parent != profile.ThreadID(w.thread) {
		if w.gap(begin); w.at == begin {
			w.thread = int32(parent)
		}
		return
	}
	w.gap(w.x.from)
}

// Critical is the critical path in a stretch of time.
type Critical struct {
	From     uint64        `json:"from"`
	To       uint64        `json:"to"`
	Steps    int           `json:"steps"`   // there are
	Thinned  bool          `json:"thinned"` // too many to list: those that took most of each stretch of pixels
	Thread   []int32       `json:"thread"`
	Begin    []uint64      `json:"begin"`
	End      []uint64      `json:"end"`
	Kind     []stepKind    `json:"kind"`
	Section  []int32       `json:"section"`
	Work     float64       `json:"work"`
	Release  float64       `json:"release"`
	Unknown  float64       `json:"unknown"`
	Sections []CriticalRow `json:"sections"` // by time on the path, the most first
	Threads  []CriticalRow `json:"threads"`
}

// CriticalRow is how long the path leads through a section, or along a thread.
type CriticalRow struct {
	ID    int     `json:"id"`
	Time  float64 `json:"time"`
	Times int     `json:"times"` // steps
}

// Most steps that are told one by one, and rows of the lists.
const (
	mostSteps    = 800
	criticalRows = 8
)

// criticalIn tells of the steps in a stretch of time.
func criticalIn(steps []step, lo, hi uint64) *Critical {
	c := &Critical{From: lo, To: hi, Thread: []int32{}, Begin: []uint64{}, End: []uint64{}, Kind: []stepKind{}, Section: []int32{}}
	first, _ := slices.BinarySearchFunc(steps, lo, func(s step, t uint64) int {
		if s.to <= t {
			return -1
		}
		return 1
	})
	past := first
	sections, threads := map[int32]*CriticalRow{}, map[int32]*CriticalRow{}
	for ; past < len(steps) && steps[past].from < hi; past++ {
		s := &steps[past]
		time := float64(min(s.to, hi) - max(s.from, lo))
		switch s.kind {
		case stepWork:
			c.Work += time
			count(sections, s.section, time)
		case stepRelease:
			c.Release += time
		case stepUnknown:
			c.Unknown += time
		}
		count(threads, s.thread, time)
	}
	steps = steps[first:past]
	c.Steps = len(steps)
	if len(steps) > mostSteps {
		c.Thinned, steps = true, thinned(steps, lo, hi, mostSteps/2)
	}
	for _, s := range steps {
		c.Thread, c.Begin, c.End = append(c.Thread, s.thread), append(c.Begin, max(s.from, lo)), append(c.End, min(s.to, hi))
		c.Kind, c.Section = append(c.Kind, s.kind), append(c.Section, s.section)
	}
	c.Sections, c.Threads = ranked(sections), ranked(threads)
	return c
}

func count(rows map[int32]*CriticalRow, id int32, time float64) {
	r := rows[id]
	if r == nil {
		r = &CriticalRow{ID: int(id)}
		rows[id] = r
	}
	r.Time += time
	r.Times++
}

func ranked(rows map[int32]*CriticalRow) []CriticalRow {
	out := []CriticalRow{}
	for _, r := range rows {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b CriticalRow) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.ID, b.ID)) })
	return out[:min(len(out), criticalRows)]
}

// thinned cuts a stretch of time into pieces and gives each to the thread that has most of the path
// in it.
func thinned(steps []step, lo, hi uint64, pieces int) []step {
	var out []step
	k := 0
	for p := range pieces {
		from := lo + uint64(float64(hi-lo)*float64(p)/float64(pieces))
		to := lo + uint64(float64(hi-lo)*float64(p+1)/float64(pieces))
		times := map[int32]uint64{}
		var best *step
		for ; k < len(steps) && steps[k].from < to; k++ {
			s := &steps[k]
			if times[s.thread] += min(s.to, to) - max(s.from, from); best == nil || times[s.thread] > times[best.thread] {
				best = s
			}
			if s.to > to {
				break
			}
		}
		if best == nil {
			continue
		}
		if n := len(out); n > 0 && out[n-1].thread == best.thread && out[n-1].to == from {
			out[n-1].to = to
			continue
		}
		out = append(out, step{from: from, to: to, thread: best.thread, kind: best.kind, section: best.section, seq: best.seq})
	}
	return out
}
