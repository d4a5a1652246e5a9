package native

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lime/internal/collect/known"
	"lime/internal/collect/native/hook"
	"lime/internal/perf"
	"lime/internal/profile"
)

// permitSource is a program whose threads do a tenth of their work without a permit, and say for how
// long they had a core with one, and in all. %s: a semaphore of its language, how it is made with as
// many permits as the macro K has, a permit taken, and given back.
const permitSource = `
#include <pthread.h>
#include <stdio.h>
#include <time.h>
%[1]s
static volatile double sink[4][8];
static long within[4], all[4];
static long now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
static __attribute__((noinline)) void spin(long me, long n) { for (long i = 0; i < n; i++) sink[me][0] = sink[me][0] + i; }
static void *work(void *arg) {
	long me = (long)arg, begin = now();
	for (int i = 0; i < 12; i++) {
		spin(me, 60000);
		%[3]s;
		long from = now();
		spin(me, 540000);
		within[me] += now() - from;
		%[4]s;
	}
	all[me] = now() - begin;
	return 0;
}
int main(void) {
	pthread_t t[4];
	%[2]s;
	for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
	for (int i = 0; i < 4; i++) printf("%%ld %%ld\n", within[i], all[i]);
	return 0;
}
`

// posixPermits is that program with semaphores of POSIX.
func posixPermits(t *testing.T, permits int) string {
	source := fmt.Sprintf(permitSource, "#include <semaphore.h>\nstatic sem_t s;", "sem_init(&s, 0, K)", "while (sem_wait(&s));", "sem_post(&s)")
	return build(t, source, fmt.Sprintf("-DK=%d", permits))
}

// permitWaits is what the parts of an instance wait for permits, and their times in all.
func permitWaits(p *profile.Profile) (waits, time float64) {
	tab := p.Tables()
	for id, s := range tab.Sections {
		if s.Kind == profile.SectionSerial || s.Kind == profile.SectionTail {
			continue
		}
		for in := range p.Instances(profile.SectionID(id)) {
			for i := range in.Parts {
				time += float64(in.Parts[i].Time())
			}
			for _, c := range in.Costs {
				if tab.Kinds[tab.Events[c.Row].Kind].Name == kindTurn {
					waits += float64(c.N)
				}
			}
		}
	}
	return waits, time
}

// mustWait is for how much of their time the threads of the program wait at least, by what it says.
func mustWait(t *testing.T, said string, permits int) float64 {
	t.Helper()
	held, all := 0.0, 0.0
	for _, line := range strings.Split(strings.TrimSpace(said), "\n") {
		var with, any float64
		if _, err := fmt.Sscan(line, &with, &any); err != nil {
			t.Fatal(err)
		}
		held, all = held+with, all+any
	}
	return max(0, 1-all/(4*held/float64(permits)))
}

// With k permits, what is done with one takes the k-th part of that time at least: that is what threads
// wait for, however many cores there are, and nothing where there is a permit for each.
func TestPermits(t *testing.T) {
	needs(t, needTracing)
	for permits := 1; permits <= 4; permits++ {
		var out strings.Builder
		command := []string{posixPermits(t, permits)}
		stolen := stolenTime(t)
		p, _ := record(t, Options{Command: command, Stdout: &out})
		stolen = stolenTime(t) - stolen
		want := mustWait(t, out.String(), permits)
		waits, time := permitWaits(p)
		// The clocks of a thread's time do not see what a hypervisor takes away, while it is mostly another
		// thread that waits. And who waits where all have cores may have to by the order in which they come.
		const near = 0.05
		least := want - near - 3*stolen/time
		if got := waits / time; got < least || permits == 4 && got != 0 {
			t.Errorf("%d permits: threads wait for %.1f %% of the time, want %.1f %%, %.0f of %.0f ns were stolen",
				permits, 100*got, 100*want, stolen, time)
		}
	}
}

// taking is work that a thread does without a permit, and with one then.
type taking struct{ before, with uint64 }

// lastDone is when threads are done that have a core each and take permits in the order in which they
// come; of those that come at once, chance has one be the first.
func lastDone(rng *rand.Rand, threads [][]taking, permits int) (last uint64) {
	free, at, next := make([]uint64, permits), make([]uint64, len(threads)), make([]int, len(threads))
	for {
		who := -1
		for _, i := range rng.Perm(len(threads)) {
			if next[i] < len(threads[i]) && (who < 0 || at[i]+threads[i][next[i]].before < at[who]+threads[who][next[who]].before) {
				who = i
			}
		}
		if who < 0 {
			return slices.Max(at)
		}
		x := threads[who][next[who]]
		first := slices.Index(free, slices.Min(free))
		at[who] = max(at[who]+x.before, free[first]) + x.with
		free[first] = at[who]
		next[who]++
	}
}

// Whatever threads do with permits and without, no order in which they take them is quicker than what
// is claimed; and where they do nothing else and there is one, all of it is claimed.
func TestLeastTime(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n, permits, others := 1+rng.IntN(5), 1+rng.IntN(4), rng.Uint64N(3)*500
		s := &semaphore{most: uint64(permits)}
		threads, parts := make([][]taking, n), make([][]held, n)
		for i := range threads {
			for range 1 + rng.IntN(6) {
				x := taking{rng.Uint64N(1 + others), 1 + rng.Uint64N(1000)}
				threads[i] = append(threads[i], x)
				parts[i] = append(parts[i], held{of: s, n: 1, cpu: x.with})
			}
			parts[i] = append(parts[i], held{of: &semaphore{most: 1}, cpu: 5000})
		}
		got, last := leastTime(parts, s), lastDone(rng, threads, permits)
		if got > last || permits == 1 && others == 0 && got != last {
			t.Fatalf("seed %d: at least %d, but %d are enough", seed, got, last)
		}
	}
}

// sem tells of a call of a function of semaphores.
func (x *told) sem(tid int32, role known.Role, value, shared uint64) {
	x.at += 1000
	f := slices.IndexFunc(x.main.program.table, func(f known.Func) bool { return f.Role == role })
	x.main.dispatcher.apply(&item{at: x.at, hook: &hook.Record{TID: tid, Func: f, Phase: hook.Enter, Caller: 16, Arg0: word,
		Arg1: value | shared<<32, SP: 1 << 20}})
}

// A semaphore has as many permits as it was given, and one more for each that somebody gives back who
// has taken none; of one that other processes use, or that was there before lime, nobody knows.
func TestHowManyPermits(t *testing.T) {
	const ms = 1_000_000
	for _, row := range []struct {
		name   string
		before func(x *told)
		waits  float64 // of two threads that have a permit for 10 ms each
	}{
		{"one", func(x *told) { x.sem(101, known.SemInit, 1, 0) }, 20 * ms},
		{"two", func(x *told) { x.sem(101, known.SemInit, 2, 0) }, 0},
		{"none, and one is added", func(x *told) { x.sem(101, known.SemInit, 0, 0); x.sem(101, known.SemPost, 0, 0) }, 20 * ms},
		{"one, and one is added", func(x *told) { x.sem(101, known.SemInit, 1, 0); x.sem(101, known.SemPost, 0, 0) }, 0},
		{"of other processes, too", func(x *told) { x.sem(101, known.SemInit, 1, 1) }, 0},
		{"not known", func(*told) {}, 0},
		{"begun anew", func(x *told) { x.sem(101, known.SemInit, 2, 0); x.sem(101, known.SemInit, 1, 0) }, 20 * ms},
	} {
		r, p := recording(t, Options{})
		x := &told{r, 5000}
		x.tells(perf.TypeSwitch, x.main.program.pid, false)
		for tid := int32(101); tid <= 102; tid++ {
			x.tells(perf.TypeFork, tid, false)
		}
		row.before(x)
		for tid := int32(101); tid <= 102; tid++ {
			x.sem(tid, known.SemWait, 0, 0)
			x.works(tid, 10*ms)
			x.sem(tid, known.SemPost, 0, 0)
			x.barrier(tid, hook.Enter)
		}
		for tid := int32(101); tid <= 102; tid++ {
			x.barrier(tid, hook.Return)
		}
		if _, err := x.finish(nil, false); err != nil {
			t.Fatal(err)
		}
		if waits, _ := permitWaits(p); waits < 0.99*row.waits || waits > 1.01*row.waits {
			t.Errorf("%s: threads wait for %.0f ns, want %.0f", row.name, waits, row.waits)
		}
	}
}

// handSource is a program whose threads hand items on to one another by semaphores, two each way, and
// work as long as one another: who hands an item on gives back what it has not taken.
const handSource = `
#include <pthread.h>
#include <semaphore.h>
static sem_t items[4], room[4];
static volatile double sink[4][8];
static void *work(void *arg) {
	long me = (long)arg;
	for (int i = 0; i < 60; i++) {
		if (me > 0) while (sem_wait(&items[me]));
		for (long k = 0; k < 200000; k++) sink[me][0] = sink[me][0] + k;
		if (me > 0) sem_post(&room[me]);
		if (me < 3) {
			while (sem_wait(&room[me + 1]));
			sem_post(&items[me + 1]);
		}
	}
	return 0;
}
`

// Semaphores by which items are handed on have no permits that anybody holds.
func TestHandingOnIsNoPermit(t *testing.T) {
	needs(t, needTracing)
	init := "for (int i = 0; i < 4; i++) sem_init(&items[i], 0, 0), sem_init(&room[i], 0, 16);"
	p, _ := record(t, Options{Command: []string{build(t, handSource+team(4, init, ""))}})
	if waits, _ := permitWaits(p); waits != 0 {
		t.Errorf("threads wait for %.0f ns for permits that nobody has", waits)
	}
}
