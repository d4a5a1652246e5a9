// Threads in parallel that are more than the host's cores. The host would let each run for some
// milliseconds, in which one alone takes all work that goes to whoever comes first. Here those run
// who are behind by their clocks, so that work is handed out as it would be with a core for each
// thread.

package sim

import (
	"math"
	"slices"
)

// Turns while others wait for a core, in instructions: by so much, or so much of what it has done
// since it waited last, may a thread be ahead of the others.
const (
	leastLead = 5_000
	mostLead  = 400_000 // some 120 us; to hand the core over takes 5
	leadShare = 16      // a part of this
	longSpun  = 50_000  // what runtimes do on their way in and out is far less
	mostTurns = 1_000   // turns of others, after which one who waits for a place is given it; see starves
)

// turnstile has as many places as the host has cores.
type turnstile struct {
	cores int
	taken []*thread // have one
	queue []*thread // have no place
	loose bool      // nobody looks at clocks any more
	free  []*thread // have begun a turn when nobody wanted a place
	// how many turns have ended: who waits for others goes to the end of the queue
	tickets uint64
}

// wants queues t for a place, or gives it one. Who began his turn when nobody wanted one is called
// out of it.
func (b *beside) wants(t *thread) {
	s := &b.turnstile
	if t.host.place != placeNone {
		return
	}
	t.host.place, t.host.queued = placeWanted, s.tickets
	s.queue = append(s.queue, t)
	if s.grant(); t.host.place == placeTaken || t.rank() >= behindAll {
		return
	}
	for _, o := range s.free {
		if o.host.free && o.ctx != nil {
			b.r.eng.Call(o.ctx)
		}
		o.host.free = false
	}
	s.free = s.free[:0]
}

// seat is what a thread has of a core of the host.
type seat uint8

const (
	placeNone seat = iota
	placeWanted
	placeTaken
)

// grant gives free places to those who are furthest behind.
func (s *turnstile) grant() {
	for len(s.taken) < s.cores && len(s.queue) > 0 {
		i := s.last()
		t := s.queue[i]
		if s.outruns(t) && !s.starves(t) {
			return
		}
		s.queue = append(s.queue[:i], s.queue[i+1:]...)
		t.host.place = placeTaken
		if c := t.letGo(); c != nil {
			c.looked = true
		}
		s.taken = append(s.taken, t)
		if t.host.awake != nil {
			t.host.awake.Broadcast()
		}
	}
}

// last is the index of the thread in the queue that is furthest behind, or of one that starves.
func (s *turnstile) last() (at int) {
	for i, t := range s.queue {
		if s.starves(t) {
			return i
		}
		if t.rank() < s.queue[at].rank() {
			at = i
		}
	}
	return at
}

// starves reports whether t, in the queue, has waited while others had far more turns than the order
// by clocks can explain: those may go round loops for what t does, as runtimes do, and their clocks
// hardly move. That t itself went round a loop for long is no proof that it waits. Who has just given
// its core away has asked to stay behind.
func (s *turnstile) starves(t *thread) bool {
	return !t.host.yielded && s.tickets-t.host.queued > mostTurns
}

// ahead reports whether one in the queue is to have the place that t has.
func (s *turnstile) ahead(t *thread) bool {
	if len(s.queue) == 0 {
		return false
	}
	o := s.queue[s.last()]
	return s.starves(o) || o.rank() < t.rank()
}

// rank orders those who want a core: by their clocks, and behind all others those who have just
// given theirs away with nobody to wait for, or have gone round a loop for long in which they wait
// for them.
func (t *thread) rank() uint64 {
	if c := t.letGo(); c != nil && !c.looked {
		return max(c.at, c.worked, c.meeting.last) / 2
	}
	if t.host.yielded || spunLong(t) {
		return behindAll + t.host.ticket
	}
	if t.host.waits {
		return (max(t.now(), t.host.lets) + leastLead) / 2 // it has looked: others may do what it waits for
	}
	return t.now() / 2
}

const behindAll = math.MaxUint64 / 2

// letGo is the barrier in which t stands from which others who waited there have come out, nil if there
// is none: t has but to look to see that, and goes on at the clock of the last who came.
func (t *thread) letGo() *call {
	if n := len(t.frames); n > 0 && t.frames[n-1].meeting != nil && t.frames[n-1].meeting.opened {
		return &t.frames[n-1]
	}
	return nil
}

// waitsSince is the clock at which t came to where it waits.
func (t *thread) waitsSince() uint64 {
	from := t.here().host.from
	if n := len(t.frames); n > 0 && !t.idle {
		return max(t.frames[n-1].at, from)
	}
	return max(t.rests, from)
}

// takes has t wait for a place. One that it was given and did not come to use, it may have lost again
// to another thread (away): it stands in the queue as long as it waits.
func (b *beside) takes(t *thread) {
	for b.wants(t); t.host.place != placeTaken && !b.r.end.over; b.wants(t) {
		t.host.awake.Wait(-1)
	}
	t.host.yielded = false
}

// gives gives t's place to another one, if t does not run on or somebody is further behind.
func (b *beside) gives(t *thread) {
	s := &b.turnstile
	s.tickets++
	t.host.ticket = s.tickets
	if t.host.place == placeTaken && (t.core == nil || s.ahead(t) || s.outruns(t)) {
		s.leaves(t)
	}
	s.grant()
}

// leaves takes t off its place.
func (s *turnstile) leaves(t *thread) {
	t.host.place = placeNone
	s.taken = slices.DeleteFunc(s.taken, func(o *thread) bool { return o == t })
}

// away gives t's place to another one while it is in the host's kernel; it runs without one until
// its turn ends.
func (b *beside) away(t *thread) {
	if t != nil && t.host.place == placeTaken {
		b.turnstile.leaves(t)
		b.turnstile.grant()
	}
}

// lead is how far t may run at once while others want its core.
func (b *beside) lead(t *thread) int64 {
	q := b.turnstile.queue
	if (len(q) == 0 || q[b.turnstile.last()].rank() >= behindAll) && !b.turnstile.paces(t) {
		if !t.host.free {
			t.host.free, b.turnstile.free = true, append(b.turnstile.free, t)
		}
		return math.MaxInt64
	}
	return int64(leadOf(t))
}

// leadOf is how far t may be ahead of others.
func leadOf(t *thread) uint64 {
	done := t.now() - min(t.now(), t.host.from)
	return max(leastLead, min(done/leadShare, mostLead))
}
