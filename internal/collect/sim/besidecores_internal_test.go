package sim

import (
	"testing"

	"lime/internal/collect/known"
	"lime/internal/futex"
)

// TestNobodyStarves has threads whose clocks hardly move take turns on all cores, as runtimes do that
// wait for a thread whose clock is far ahead: it is given a core all the same, once and again.
func TestNobodyStarves(t *testing.T) {
	b := &beside{turnstile: turnstile{cores: 2}}
	list := make([]*thread, 4)
	for i := range list {
		list[i] = &thread{core: &core{}}
	}
	far := list[3]
	far.core.clock = 1 << 40
	for _, x := range list {
		b.wants(x)
	}
	had := 0
	for range 20 * mostTurns {
		for _, x := range list {
			if x.host.place != placeTaken {
				continue
			}
			if x == far {
				had++
			}
			x.core.clock++
			b.gives(x)
			b.wants(x)
		}
	}
	if had < 10 {
		t.Errorf("who is far ahead had %d turns of %d", had, 20*mostTurns)
	}
}

// TestWhoIsLetGoDoesNotWait has a thread go round the loop of a barrier for long, while others take
// turns on the only core. It stays behind them as long as nobody has come out of there, also if the last
// one is on its way past it, who may have to open it yet. As soon as somebody has come out it is given
// the core before them, once: it does no more than look, and may stand there for another reason.
func TestWhoIsLetGoDoesNotWait(t *testing.T) {
	b := &beside{turnstile: turnstile{cores: 1}}
	const came, spun = 1000, 10 * longSpun
	m := &meeting{last: came}
	waits := &thread{core: &core{clock: came + spun}}
	waits.frames = []call{{fn: &fn{Role: known.Barrier}, reported: true, at: came, meeting: m}}
	works := []*thread{{core: &core{clock: 3 * spun}}, {core: &core{clock: 3 * spun}}}
	for _, x := range append(works, waits) {
		b.wants(x)
	}
	turns := func() (had int) {
		for range 10 {
			for _, x := range append(works, waits) {
				if x.host.place == placeTaken {
					if x == waits {
						had++
					}
					x.core.clock += spun
					b.gives(x)
					b.wants(x)
				}
			}
		}
		return had
	}
	if had := turns(); had != 0 {
		t.Errorf("who waits had %d turns", had)
	}
	m.over = true
	if had := turns(); had != 0 {
		t.Errorf("who waits until the last one opens the barrier had %d turns", had)
	}
	m.opened = true
	if had := turns(); had != 1 {
		t.Errorf("who was let go had %d turns", had)
	}
}

// TestWhoLosesItsPlaceComesAgain takes the place away again that a thread was given while it slept, as a
// system call in another one's name does: the thread stands in the queue again, and has the free place.
func TestWhoLosesItsPlaceComesAgain(t *testing.T) {
	r := &run{end: &end{}}
	b := &beside{r: r, turnstile: turnstile{cores: 1}}
	first, sleeps := &thread{core: &core{}}, &thread{core: &core{}}
	sleeps.host.awake = futex.NewCond(&r.mu)
	b.wants(first)
	b.wants(sleeps)
	has, came := make(chan bool), make(chan seat)
	go func() {
		r.mu.Lock()
		close(has) // it gives the lock up when it sleeps
		b.takes(sleeps)
		r.mu.Unlock()
		came <- sleeps.host.place
	}()
	<-has
	r.mu.Lock()
	first.core = nil
	b.gives(first)
	b.away(sleeps)
	r.mu.Unlock()
	if got := <-came; got != placeTaken {
		t.Errorf("it goes on with place %d", got)
	}
}
