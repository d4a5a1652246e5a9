package sim

import "testing"

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
