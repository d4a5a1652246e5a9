package native

import (
	"slices"
	"testing"

	"lime/internal/profile"
)

// What a piece ran on each core is its CPU time: from where it began, over switches, to its end.
func TestPiecesKnowTheirCores(t *testing.T) {
	th := &thread{}
	th.begin(100)
	in := func(at uint64, core uint32) {
		th.cpu.in(at, rest{})
		th.cpu.core, th.cpu.seen = core, true
	}
	out := func(at uint64) {
		th.piece.ranOn(&th.cpu, at)
		th.cpu.out(at, true)
	}
	in(110, 0)
	out(150)
	in(160, 1)
	first := th.cut(200)
	out(230)
	in(240, 1)
	out(250)
	in(300, 0)
	second := th.cut(301)
	for _, c := range []struct {
		p    *piece
		want []coreTime
	}{{first, []coreTime{{0, 40}, {1, 40}}}, {second, []coreTime{{1, 40}, {0, 1}}}} {
		sum := uint64(0)
		for _, x := range c.p.cores {
			sum += x.ns
		}
		if !slices.Equal(c.p.cores, c.want) || sum != c.p.cpu {
			t.Errorf("%+v of %d ns, want %+v", c.p.cores, c.p.cpu, c.want)
		}
	}
}

// The profile has the same for parts: no more than a part took.
func TestPartsKnowTheirCores(t *testing.T) {
	needs(t, needSamples, needTracing)
	p, _ := record(t, Options{Command: []string{build(t, source4Cores+team(4, "pthread_barrier_init(&b, 0, 4);", ""))}})
	tab, told := p.Tables(), 0
	for id := range tab.Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			ns := make([]uint64, len(in.Parts))
			for _, c := range in.Events {
				if tab.Kinds[tab.Events[c.Row].Kind].Name == profile.KindCoreTime {
					ns[c.Part] += c.N
				}
			}
			for i := range ns {
				if ns[i] > 0 {
					told++
				}
				if tab.Sections[id].Kind == profile.SectionBarrier && ns[i] > in.Parts[i].Time() {
					t.Errorf("section %d: %d ns on cores, of %d", id, ns[i], in.Parts[i].Time())
				}
			}
		}
	}
	if told == 0 {
		t.Error("no part's cores are known")
	}
}

const source4Cores = `
#include <pthread.h>
static pthread_barrier_t b;
static volatile long sink[64 * 8];
static void *work(void *a) {
	long me = (long)a;
	for (int r = 0; r < 20; r++) {
		for (long i = 0; i < 2000000; i++) sink[8 * me] += i;
		pthread_barrier_wait(&b);
	}
	return 0;
}
`
