package native

import (
	"fmt"
	"strings"
	"testing"

	"lime/internal/perf"
	"lime/internal/profile"
)

// following is a program whose thread 1 does nothing but wait for thread 0, in a loop of its own
// that gives its core away, or does not. Both print how long they had a core.
const following = measuring + `
#include <sched.h>
#include <stdatomic.h>
static atomic_int ready;
static long ran[2], waited;
static void take(int r) {
	for (int spins = 0; atomic_load(&ready) <= r;)
		if (++spins > %[1]d) { sched_yield(); spins = 0; }
}
static void *work(void *a) {
	long me = (long)a, from = at(CLOCK_THREAD_CPUTIME_ID), begun = at(CLOCK_MONOTONIC);
	for (int r = 0; r < 200; r++)
		if (me == 0) {
			spin(me, 3000000);
			atomic_store(&ready, r + 1);
		} else
			take(r);
	ran[me] = at(CLOCK_THREAD_CPUTIME_ID) - from;
	if (me == 1) waited = at(CLOCK_MONOTONIC) - begun;
	return stays();
}
`

// Who waits in a loop of the program's own waits for others, whether it keeps its core meanwhile or
// gives it away: no work, and no want of a core. It waits for no longer than it was there, and for as
// long as those ran who had what it waited for, give or take a few samples, whether it had to give
// its core to other processes, or they theirs, or nobody wanted either and the kernel, where no
// sample is taken, was at once back from each call.
func TestWaitsInOwnLoops(t *testing.T) {
	needs(t, needSamples, needTracing)
	for name, spins := range map[string]int{"gives its core away": 50, "keeps it": 2_000_000_000} {
		program := build(t, fmt.Sprintf(strings.ReplaceAll(following, "%ld", "%%ld"), spins)+
			staying(2, "pthread_barrier_init(&done, 0, 3);", `printf("%ld %ld %ld\n", ran[0], ran[1], waited);`))
		var out strings.Builder
		p, _ := record(t, Options{Command: []string{program}, Stdout: &out})
		var worked, own, there float64
		if _, err := fmt.Sscan(out.String(), &worked, &own, &there); err != nil {
			t.Fatalf("%s: %q: %v", name, out.String(), err)
		}
		costs, _ := offCosts(p)
		if got := costs[kindWork]; got > 1.05*there || got < 0.7*worked {
			t.Errorf("%s: %.0f ns of waiting; thread 0 worked %.0f ns, thread 1 had a core for %.0f ns and was there for %.0f ns; by kind %v",
				name, got, worked, own, there, costs)
		}
		useful := 0.0
		for _, s := range p.Tables().PathSamples {
			if s.Metric == "time" && s.Thread != profile.None {
				useful += s.Value
			}
		}
		if useful > 1.2*worked+6e8 { // those that stay run for half a second
			t.Errorf("%s: %.0f ns of work, thread 0 worked %.0f ns", name, useful, worked)
		}
	}
}

// A sample in a loop that waits stands for all that the thread ran since the one before, if that was
// in such a loop, too: the kernel's own part of that has no samples.
func TestKernelsPartOfALoop(t *testing.T) {
	const ms = 1_000_000
	loop := &block{spins: true, last: 0x1000}
	for _, row := range []struct {
		name    string
		between bool // it worked between the two
		want    uint64
	}{{"nothing else", false, 22 * ms}, {"work in between", true, 4 * ms}} {
		r, _ := recording(t, Options{})
		r.events.by = "cpu-clock"
		m := r.main.roster.main()
		r.main.dispatcher.apply(&item{at: ms, typ: perf.TypeSwitch, tid: m.tid})
		sample := func(at uint64, loop *block) {
			s := workSample{b: &block{}, loop: loop, period: 2 * ms}
			r.main.dispatcher.apply(&item{at: at, typ: perf.TypeSample, tid: m.tid, detail: &detail{sample: s, spins: loop != nil}})
		}
		sample(10*ms, loop)
		if row.between {
			sample(20*ms, nil)
		}
		sample(30*ms, loop)
		if got := m.piece.off; len(got) != 1 || got[0].wait != row.want || m.piece.spin != row.want {
			t.Errorf("%s: %+v, %d ns of spinning, want %d ns", row.name, got, m.piece.spin, row.want)
		}
	}
}

// How fast waits for others go: by the share of those who could get on that have a core.
func TestPaceOfThreadsThatSpin(t *testing.T) {
	for _, row := range []struct {
		name                        string
		works, queues, spins, wants int // threads
		want                        uint64
	}{
		{"all wait for something outside", 0, 0, 0, 0, 100},
		{"one works", 1, 0, 1, 0, 100},
		{"one works, one has no core for it", 1, 1, 1, 0, 50},
		{"none has a core", 0, 2, 1, 0, 0},
		{"one works, one that waits has no core", 1, 0, 0, 1, 100},
		{"all wait, and one of them has no core to see that it need not", 0, 0, 1, 1, 0},
	} {
		var p pace
		p.to(1000)
		for range row.works {
			p.set(&paced{}, true, true)
		}
		for range row.queues {
			p.set(&paced{}, false, true)
		}
		for range row.spins {
			p.set(&paced{}, false, false)
		}
		for range row.wants {
			p.loses(&paced{})
		}
		if p.to(1100); p.now != row.want {
			t.Errorf("%s: %d of 100 ns", row.name, p.now)
		}
		back := paced{}
		p.loses(&back)
		if p.set(&back, true, true); p.wanting != row.wants {
			t.Errorf("%s: %d threads want a core, %d do", row.name, p.wanting, row.wants)
		}
	}
}
