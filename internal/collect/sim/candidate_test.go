package sim

import (
	"strings"
	"testing"

	"lime/internal/cpu"
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

// A loop may begin where a function does: each of its rounds is no call, and once it is proved to wait
// nobody is stopped there any more.
func TestARoundIsNoCall(t *testing.T) {
	const entry, height = 7, 4096
	p := &probes{counting: &counting{}, placed: map[uint64]bool{entry: true}}
	cs := &openCalls{entries: map[uint64]*fn{}, passPoints: &passPoints{}, focus: &focus{}, entrances: &entrances{}}
	b := &barriers{candidates: map[uint64]*candidate{}, inRound: map[uint64]bool{}, probes: p, roster: &roster{}, passPoints: &passPoints{}, openCalls: cs}
	g := b.watch(entry)
	delete(p.placed, entry) // no engine here
	x := &thread{ctx: &cpu.Context{}}
	for _, c := range []struct {
		name   string
		sp     uint64
		others bool
	}{{"a call", height, false}, {"a round of it", height, true}, {"a call from inside", height - 64, false}} {
		x.ctx.RIP, x.ctx.GPR[rsp] = entry, c.sp
		if got := cs.othersProbe(x); got != c.others {
			t.Errorf("%s: of no interest %v, want %v", c.name, got, c.others)
		}
		x.frames = append(x.frames[:0], call{fn: g.f, candidate: g, rsp: c.sp})
	}
	if b.isRound(entry); g.state != candidateRefuted || cs.entries[entry] != nil {
		t.Error("threads are stopped at each round of a loop that waits")
	}
}

// Trials in which the same thread was last each time prove less than those in which another one was.
func TestWhatTrialsProve(t *testing.T) {
	a, b := &thread{}, &thread{}
	for _, c := range []struct {
		last []*thread
		want bool
	}{
		{nil, false}, {[]*thread{a}, false}, {[]*thread{a, a}, false}, {[]*thread{a, b}, true}, {[]*thread{a, a, b}, true},
		{[]*thread{a, a, a}, false}, {[]*thread{a, a, a, a}, true},
	} {
		x := newTurns(nil)
		for _, o := range c.last {
			x.held, x.last[o] = x.held+1, true
		}
		if x.proved() != c.want {
			t.Errorf("%d trials by %d threads prove it: %t", x.held, len(x.last), !c.want)
		}
	}
}
