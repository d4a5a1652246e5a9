// Spinning where threads run in parallel. Whether a loop waits is proved as in a simulated run: a
// thread is followed round it. It is not kept from running, so nothing is slower for it; but from
// then on the rounds of that loop, in all threads, are waiting and no work.

package sim

import (
	"maps"
	"slices"
)

// turn is how far t runs at once: further as long as it is not found in a loop.
func (b *beside) turn(t *thread) int64 {
	h := &t.host
	if h.turn = min(2*h.turn, lastTurn); h.turn == 0 {
		h.turn = firstTurn
	}
	return min(h.turn, b.lead(t))
}

// How long threads are followed in vain. A block of it takes 3 to 6 us, in which 15,000 to 25,000
// instructions run: who computes spends a twentieth of its time on it at most, once the first are
// gone, which are some 5 ms. Who has waited in a loop before may do so again, and has them anew.
const (
	freeBlocks = 1024    // blocks
	blockEvery = 400_000 // instructions for one more
	readBlocks = 16      // blocks that take as long as reading the counters, before each search
)

// patience is for how many blocks a thread was followed in vain, those forgotten that were made up
// for by a find.
type patience uint64

// over reports whether a thread that has run so many instructions is to be let alone.
func (p patience) over(ran uint64) bool { return uint64(p) >= freeBlocks+ran/blockEvery }

// searched is told of a search.
func (p *patience) searched(blocks int, found bool) {
	if found {
		*p -= min(*p, freeBlocks)
		return
	}
	*p += patience(readBlocks + blocks)
}

// seeks learns the loop in which a thread that has not moved waits: by its code, or else by following
// the thread, if that proves it. One thread is followed at a time; the others run on, and what they
// store can only end the thread's loop, and its proof with it.
func (b *beside) seeks(t *thread) {
	r := b.r
	if s := r.loops.inCode(t); s != nil {
		t.host.turn = 0
		r.segments.keep(t)
		waitsIn(b, t, s)
		return
	}
	if b.seeking || t.host.patience.over(r.eng.Retired(t.ctx)) {
		return
	}
	b.seeking = true
	defer func() { b.seeking = false }()
	t.host.turn = 0
	since := t.now()
	r.segments.keep(t)
	l := r.loops.search(t)
	t.host.patience.searched(r.loops.follow.Steps(), l != nil)
	if r.end.over || t.blocked || t.gone || t.core == nil {
		return
	}
	var s *spinner
	if l != nil {
		s = r.loops.spinner(t, l, since)
	}
	if s == nil {
		r.parking.inVain(t)
		return
	}
	s.call = r.loops.waitsAt(s)
	r.rounds.coded.proved(s)
	if !b.learns(t, s) {
		r.parking.inVain(t) // it may wait for long
	}
	waitsIn(b, t, s)
}

// waitsIn is told of a thread that waits in a loop.
func waitsIn(b *beside, t *thread, s *spinner) {
	b.remembers(s)
	b.r.segments.lessSpinning(t)
	b.suspects(t, s)
}

// remembers notes a loop that is a lock's, and one whose rounds come back to where they began: who
// goes round it has done nothing.
func (b *beside) remembers(s *spinner) {
	if s.kind() == lockWait && !slices.ContainsFunc(b.lockLoops, func(o *spinner) bool { return o.call == s.call }) {
		b.lockLoops = append(b.lockLoops, s)
		for _, t := range b.r.roster.threads {
			waitsForLock(t.acting(), s)
		}
	}
	if s.loop.Fixed && !slices.ContainsFunc(b.loops, func(o *spinner) bool { return maps.Equal(o.blocks, s.blocks) }) {
		b.loops = append(b.loops, s)
	}
}

// suspects watches the function in which t waits, or else the way through its loop: what lets
// nobody out before all have come is a barrier. That is none with which a round begins that comes
// back to where it began, or that is called in one: who goes in changes nothing by that, and nobody
// waits for it.
func (b *beside) suspects(t *thread, s *spinner) {
	if s.loop.Fixed {
		for pc := range s.heads {
			b.r.barriers.isRound(pc)
		}
	}
	if !b.r.barriers.suspectHere(t) {
		ways{b.r}.watchLoop(t, s)
	}
}

// waitsInCandidate reports whether t, which waits for a futex, is in a function that may be a
// barrier: what is reported of single waits would lack those who have not had to wait.
func (b *beside) waitsInCandidate(t *thread) bool {
	if b == nil || t.goroutine != nil || b.r.waits.mayBeForScope(t) {
		return false
	}
	return (b.r.barriers.suspectHere(t) || ways{b.r}.watchCall(t)) && t.watchedCandidate() != nil
}

// learns notes the round of a loop, and reports whether it is one whose rounds carry nothing.
func (b *beside) learns(t *thread, s *spinner) bool {
	r := b.r
	if !s.loop.Pure {
		return false
	}
	var p segment
	r.segments.drain(t, &p)
	taken := append([]edgeCount(nil), p.edges...)
	t.keepFor(&p)
	n := len(r.rounds.cycles)
	r.rounds.learn(s, taken)
	return len(r.rounds.cycles) > n
}
