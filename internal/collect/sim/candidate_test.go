package sim

import (
	"strings"
	"testing"
)

// A word says who goes into (+) or comes out of (-) the function, in order; * comes out of it and has
// worked in it.
func TestGate(t *testing.T) {
	for _, c := range []struct {
		name, words string
		want        candidateState
	}{
		{"a barrier, seen from its first round on", "+0 +1 +2 -2 -0 -1 +1 +0 +2 -2 -1 -0 +0", candidateKnown},
		{"one comes back before all have left", "+0 +1 +2 -2 -0 +0 -1 +1 +2 -2 -0 -1 +0", candidateKnown},
		{"of the first round only a part was seen", "+0 +1 -1 -0 +2 +0 +1 -1 -0 -2 +2 +1 +0 -0 -1 -2 +1", candidateKnown},
		{"one of them works in it", "+0 +1 +2 -2 -0 *1 +1 +0 +2 -2 *1 -0 +0 +1 +2 -2 -0 *1 +0", candidateWatched},
		{"one of them has worked in it once", "+0 +1 +2 -2 -0 *1 +1 +0 +2 -2 -1 -0 +0", candidateKnown},
		{"one round tells nothing", "+0 +1 +2 -2 -0 -1", candidateWatched},
		{"a lock of two", "+0 -0 +1 -1 +0 -0 +1 -1 +0 -0 +1 -1 +0 -0 +1 -1 +0", candidateRefuted},
		{"a lock of three: they come out one by one", "+0 -0 +1 +2 -1 +0 -2 +1 -0 +2 -1 +0 -2 +1 -0 +2 -1 +0 -2 +1 -0 +2", candidateRefuted},
		{"one alone", "+0 -0 +0 -0 +0 -0 +0 -0 +0 -0 +0", candidateRefuted},
		{"a queue: one comes more often than the others", "+0 +1 -0 +0 -0 +0 -1 -0 +1 +0 -0 +0 -0 +0 -1 +1 -0 +0 -0 +0", candidateRefuted},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &probes{counting: &counting{}, placed: map[uint64]bool{7: true}}
			b := &barriers{candidates: map[uint64]*candidate{}, probes: p, roster: &roster{}, passPoints: &passPoints{},
				openCalls: &openCalls{entries: map[uint64]*fn{}}}
			g := b.watch(7)
			delete(p.placed, 7) // no engine here
			threads := []*thread{{id: 0}, {id: 1}, {id: 2}}
			for _, w := range strings.Fields(c.words) {
				x := threads[w[1]-'0']
				if w[0] == '+' && g.state == candidateWatched {
					b.goesIn(g, x)
					continue
				}
				delete(g.in, x)
				c := &call{before: x.busy}
				if w[0] == '*' {
					x.busy += candidateLength + 1
				}
				g.idles(x, c)
			}
			if g.state != c.want {
				t.Errorf("state %d, want %d", g.state, c.want)
			}
		})
	}
}
