// Spinning where threads run in parallel. Whether a loop waits is proved as in a simulated run: a
// thread is followed round it. It is not kept from running, so nothing is slower for it; but from
// then on the rounds of that loop, in all threads, are waiting and no work.

package sim

// turn is how far t runs at once: further as long as it is not found in a loop.
func (b *beside) turn(t *thread) int64 {
	h := &t.host
	if h.turn = min(2*h.turn, lastTurn); h.turn == 0 {
		h.turn = firstTurn
	}
	return h.turn
}

// seeks follows a thread that has not moved, and learns the loop in which it waits if that is
// proved. One thread is followed at a time; the others run on, and what they store can only end the
// thread's loop, and its proof with it.
func (b *beside) seeks(t *thread) {
	r := b.r
	if b.seeking {
		return
	}
	b.seeking = true
	defer func() { b.seeking = false }()
	t.host.turn = 0
	since := t.now()
	r.keep(t)
	l := r.search(t)
	if r.end.over || t.blocked || t.gone || t.core == nil {
		return
	}
	if l == nil || !b.learns(t, r.spinner(t, l, since)) {
		r.inVain(t)
	}
}

// learns notes the round of a loop, and reports whether it is one whose rounds carry nothing.
func (b *beside) learns(t *thread, s *spinner) bool {
	r := b.r
	if s == nil || !s.loop.Pure {
		return false
	}
	var p piece
	r.drain(t, &p)
	taken := append([]edgeCount(nil), p.edges...)
	t.keepFor(&p)
	s.call = uint64(r.site(t.ctx.RIP, r.stack(t)).Place())
	n := len(r.spins.cycles)
	r.learn(s, taken)
	return len(r.spins.cycles) > n
}
