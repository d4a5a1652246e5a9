// The time line of the cores: how much of every part's time counts, moment by moment, so that no
// core is counted twice and none is left out.

package analysis

import (
	"iter"
	"slices"

	"lime/internal/profile"
)

// flowKey names a thread's parts in a section.
type flowKey struct {
	section profile.SectionID
	thread  profile.ThreadID
}

// flow is what became of core time in them.
type flow struct {
	busy    float64 // the thread ran
	held    float64 // it waited before it had arrived: for locks, for others, off its core
	idle    float64 // it had arrived, and waited for the section's end
	opening float64 // it was on its way into a region
	absent  float64 // of the cores for which there was no thread while it was there
}

// timeline is the core time of a run, by what threads did.
type timeline struct {
	cores int
	flows map[flowKey]*flow
	// of a section's idleness: while nobody of it had anything to do, and others had
	awaited map[awaits]float64
	nobody  float64 // core time while no thread was in any section
	busy    float64 // sum of all flows'
	opening float64
	absent  float64
	total   float64 // core time: at every moment the cores, or the threads that ran if there were more
}

// sweep goes once through the time of a run of that many cores, with the spans of its parts in
// order. A part is in two phases: until it arrives it runs for the useful share of the time and
// waits for the rest, then it waits until it is released. Of parts of one thread that overlap
// (nested regions hold the same work twice) the one that began last counts. A thread that waits
// loses a core's time if there is a core for it: where there are fewer cores than threads, those
// that wait share what those that run leave over. Cores that are left over then have no thread;
// their loss is shared by the parts that are there.
func sweep(spans iter.Seq[span], cores int, run float64) *timeline {
	s := &sweeper{out: &timeline{cores: max(1, cores), flows: map[flowKey]*flow{}, awaited: map[awaits]float64{}}}
	for p := range spans {
		for len(s.due) > 0 && s.due[0].at <= p.lo {
			s.step()
		}
		s.begin(p)
	}
	for len(s.due) > 0 {
		s.step()
	}
	s.out.finish(run, s.length)
	return s.out
}

// finish adds the time of the run in which no span was.
func (t *timeline) finish(run, length float64) {
	rest := max(0, run-length) * float64(t.cores)
	t.nobody, t.total = t.nobody+rest, t.total+rest
	for _, f := range t.flows {
		t.busy, t.opening, t.absent = t.busy+f.busy, t.opening+f.opening, t.absent+f.absent
	}
	t.absent += t.nobody
}

// sweeper is the state of a sweep. What a thread's current part is charged since it became that is
// the difference of three integrals over time: of 1, of the share of waiting that counts, and of
// the cores left over by each thread that is there.
type sweeper struct {
	spans   []span  // that have begun, and those that are over until another takes the place
	over    []int32 // of spans
	begun   int
	due     heap[due, *due]
	threads []sweptThread // by id
	there   int           // threads that are in a part
	running float64       // how many of them run, and how many wait
	waiting float64
	now     uint64
	length  float64 // of the integrals' range
	waited  float64
	left    float64
	at      []present           // by section
	live    []profile.SectionID // where threads are
	out     *timeline
}

// sweptThread is a thread: the parts that it is in, in the order of their beginnings, and the
// integrals when the last one became its current one, or changed its phase.
type sweptThread struct {
	open                 []int32
	since, waited, left  float64
	arrived, has         bool // the current part's phase
	runRate, waitingRate float64
	flow                 *flow // the last one charged
	flowOf               profile.SectionID
}

// due is a part that arrives or ends.
type due struct {
	at    uint64
	order int // of the parts' beginnings
	span  int32
}

func (d *due) before(o *due) bool { return d.at < o.at || d.at == o.at && d.order < o.order }

func (s *sweeper) begin(p span) {
	s.advance(p.lo)
	for int(p.thread) >= len(s.threads) {
		s.threads = append(s.threads, sweptThread{})
	}
	t := &s.threads[p.thread]
	s.settle(t)
	i := s.keep(p)
	t.open = append(t.open, i)
	s.enter(t)
	if p.hi > p.lo {
		s.due.push(due{p.hi, s.begun, i})
	}
	if p.end > p.hi || p.hi <= p.lo {
		s.due.push(due{max(p.end, p.hi), s.begun, i})
	}
	s.begun++
}

// keep puts a span where one is over, or behind all others.
func (s *sweeper) keep(p span) int32 {
	if n := len(s.over); n > 0 {
		i := s.over[n-1]
		s.over = s.over[:n-1]
		s.spans[i] = p
		return i
	}
	s.spans = append(s.spans, p)
	return int32(len(s.spans) - 1)
}

// step handles the next part that arrives or ends.
func (s *sweeper) step() {
	d := s.due.pop()
	s.advance(d.at)
	p := &s.spans[d.span]
	t := &s.threads[p.thread]
	s.settle(t)
	if d.at >= max(p.end, p.hi) {
		t.open = slices.DeleteFunc(t.open, func(i int32) bool { return i == d.span })
		s.over = append(s.over, d.span)
	}
	s.enter(t)
}

// advance moves the integrals on.
func (s *sweeper) advance(at uint64) {
	if at <= s.now || s.length == 0 && s.there == 0 {
		s.now = max(s.now, at)
		return
	}
	dt := float64(at - s.now)
	s.now, s.length = at, s.length+dt
	cores := max(float64(s.out.cores), s.running)
	s.out.total += cores * dt
	free := cores - s.running
	share := 1.0
	if s.waiting > free {
		share = ratio(free, s.waiting)
	}
	s.waited += share * dt
	if len(s.live) > 1 {
		s.await(share * dt)
	}
	switch rest := (free - share*s.waiting) * dt; {
	case rest <= 0:
	case s.there == 0:
		s.out.nobody += rest
	default:
		s.left += rest / float64(s.there)
	}
}

// flow is that of a thread in a section.
func (s *sweeper) flow(t *sweptThread, p *span) *flow {
	if t.flow != nil && t.flowOf == p.section {
		return t.flow
	}
	k := flowKey{p.section, p.thread}
	f := s.out.flows[k]
	if f == nil {
		f = &flow{}
		s.out.flows[k] = f
	}
	t.flow, t.flowOf = f, p.section
	return f
}

// settle charges a thread's current part up to now, and takes the thread away.
func (s *sweeper) settle(t *sweptThread) {
	if !t.has {
		return
	}
	p := &s.spans[t.open[len(t.open)-1]]
	f := s.flow(t, p)
	wait := t.waitingRate * (s.waited - t.waited)
	f.busy += t.runRate * (s.length - t.since)
	f.absent += s.left - t.left
	switch {
	case p.opening:
		f.opening += wait
	case t.arrived:
		f.idle += wait
	default:
		f.held += wait
	}
	s.goAway(p.section, t)
	s.there--
	s.running, s.waiting, t.has = s.running-t.runRate, s.waiting-t.waitingRate, false
	if s.there == 0 {
		s.running, s.waiting = 0, 0 // and with them the rounding
	}
}

// enter puts a thread into the part that it is in now, if it is in one.
func (s *sweeper) enter(t *sweptThread) {
	if len(t.open) == 0 {
		return
	}
	p := &s.spans[t.open[len(t.open)-1]]
	t.has, t.arrived = true, s.now >= p.hi
	t.runRate = 0
	if !t.arrived {
		t.runRate = min(1, ratio(p.useful, float64(p.hi-p.lo)))
	}
	t.waitingRate = 1 - t.runRate
	if p.helper {
		t.waitingRate = 0
	}
	t.since, t.waited, t.left = s.length, s.waited, s.left
	s.come(p.section, t)
	s.there++
	s.running, s.waiting = s.running+t.runRate, s.waiting+t.waitingRate
}
