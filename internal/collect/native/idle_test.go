package native

import (
	"fmt"
	"strings"
	"testing"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// Three threads work for 10 ns, then one of them alone for 30 ns: two had nothing to do for 30 ns
// each. A passing fourth thread changes nothing.
func TestIdlenessGoesToWhatRunsMeanwhile(t *testing.T) {
	i := newIdling(9)
	const together, alone = 1, 2
	sums := map[int32]float64{}
	take := func() { i.corrections(func(k pathKey, change float64) { sums[k.path] += change }) }
	i.moment.add(alone, 0, 1, 30)
	take()
	if len(sums) != 0 {
		t.Errorf("one thread alone leaves nobody idle, but %v is charged", sums)
	}
	for id := range int32(3) {
		i.moment.add(together, id, 3, 10)
	}
	i.moment.add(together, 3, 4, 0.1)
	take()
	take()
	if i.moment.width() != 3 || sums[alone] != 60 || sums[together] != 0 {
		t.Errorf("width %d, idleness by path %v; want 3, and 60 for the thread alone", i.moment.width(), sums)
	}
	i.moment.add(together, 3, 4, 40)
	take()
	if d := sums[together] - 10; i.moment.width() != 4 || sums[alone] != 90 || d > 1e-9 || d < -1e-9 {
		t.Errorf("width %d, idleness by path %v; want 4, 90 for the thread alone, 10 for three", i.moment.width(), sums)
	}
}

// Two threads have a core between them: the one with 10 ns of work runs first, the other, with 30
// ns, then. On a core of its own it would have been alone for 20 ns of these.
func TestIdlenessWithFewCores(t *testing.T) {
	i := newIdling(1)
	lengths := []uint64{10, 30}
	short := &piece{thread: &thread{id: 0}, cpu: 10, work: 10, samples: []workSample{{path: 1, nanos: 10, at: 5, working: 2}}}
	long := &piece{thread: &thread{id: 1}, cpu: 30, work: 30}
	for at := uint64(5); at < 30; at += 10 {
		long.samples = append(long.samples, workSample{path: 2, nanos: 10, at: at, working: 1})
	}
	i.moment.add(1, 0, 2, 10)
	i.moment.add(2, 1, 1, 30)
	i.charge(short, 0, lengths)
	i.charge(long, 0, lengths)
	sums := map[int32]float64{}
	i.corrections(func(k pathKey, change float64) { sums[k.path] += change })
	if i.width != 2 {
		t.Errorf("idleness is measured for %d threads, want 2", i.width)
	}
	if sums[1] != 0 || sums[2] != 20 {
		t.Errorf("idleness by path %v; want 20 for the longer one", sums)
	}
}

// Of four threads that meet at a barrier on two cores, those that came first spin until the others have
// had a core, and are seen to do so until they have a sample at work again: no moment shows more than
// two at work. With a core for each they would work together.
func TestIdlenessOfThreadsThatSpin(t *testing.T) {
	i := newIdling(2)
	for id := range int32(4) {
		p := &piece{thread: &thread{}, row: id, cpu: 10, work: 10, samples: []workSample{{path: 1, nanos: 10, at: 5, working: 1 + int(id)/2}}}
		i.moment.add(1, id, p.samples[0].working, 10)
		i.charge(p, 0, []uint64{10, 10, 10, 10})
	}
	i.corrections(func(k pathKey, change float64) { t.Errorf("%v of idleness at %+v, want none", change, k) })
	if i.width != 4 {
		t.Errorf("idleness is measured for %d threads, want 4", i.width)
	}
}

const twoTasks = `
#include <unistd.h>
static volatile int started;
static volatile long sink[2];
__attribute__((noinline)) static void work(int me) {
	__atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
	while (started < 2) usleep(100);
	for (long i = 0; i < 120000000; i++) sink[me] += i;
}
int main(void) {
	#pragma omp parallel num_threads(2)
	#pragma omp single
	{
		#pragma omp task
		work(0);
		#pragma omp task
		work(1);
	}
	return 0;
}
`

// Each of two tasks waits for the other to begin, so that two threads do one each, at least one of
// them at the barrier: both are work.
func TestTasksAtABarrierAreWork(t *testing.T) {
	needs(t, needSamples, needTracing)
	p, _ := record(t, Options{Command: []string{build(t, twoTasks, "-fopenmp")}})
	if !hasSamples(p) {
		t.Fatal("no samples")
	}
	times := map[profile.ThreadID]float64{}
	for id := range p.Tables().Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			for i := range in.Parts {
				times[in.Parts[i].Thread] += float64(in.Parts[i].Time())
			}
		}
	}
	if a, b := times[0], times[1]; len(times) != 2 || min(a, b) < 0.25*max(a, b) || min(a, b) < 8e6 {
		t.Errorf("times of the threads, with a task of the same length each: %v", times)
	}
}

// oneAlone prints for how long one of its threads used a CPU while the other had nothing to do, and
// for how long both worked: a part that both work in is cut into pieces, as on a busy machine they
// do not begin and end it together.
const oneAlone = `
#include <pthread.h>
#include <stdio.h>
#include <time.h>
enum { pieces = 30 };
static pthread_barrier_t b;
static volatile long sink[16];
static struct { long wall, cpu; } at[2][pieces + 1];
static long alone, both;
static long now(clockid_t c) {
	struct timespec t;
	clock_gettime(c, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}
static void spin(long me, long n) { for (long i = 0; i < n; i++) sink[8 * me] += i; }
static void mark(long me, int i) { at[me][i].wall = now(CLOCK_MONOTONIC); at[me][i].cpu = now(CLOCK_THREAD_CPUTIME_ID); }
static void *work(void *a) {
	long me = (long)a;
	pthread_barrier_wait(&b);
	for (int i = 0; i <= pieces; i++) {
		mark(me, i);
		if (i < pieces) spin(me, 1000000);
	}
	pthread_barrier_wait(&b);
	if (me == 0) {
		long from = now(CLOCK_THREAD_CPUTIME_ID);
		spin(me, 240000000);
		alone = now(CLOCK_THREAD_CPUTIME_ID) - from;
	}
	pthread_barrier_wait(&b);
	return 0;
}
static void print(void) {
	for (int me = 0; me < 2; me++)
		for (int i = 0; i < pieces; i++) {
			long middle = (at[me][i].wall + at[me][i + 1].wall) / 2;
			int other = middle > at[!me][0].wall && middle < at[!me][pieces].wall;
			*(other ? &both : &alone) += at[me][i + 1].cpu - at[me][i].cpu;
		}
	printf("%ld %ld\n", alone, both);
}
`

// While one of two threads works alone the other is idle: the idleness is the CPU time that the
// program itself measures for that.
func TestIdlenessAgreesWithTheProgram(t *testing.T) {
	needs(t, needSamples, needTracing)
	if cores() < 2 {
		testenv.Skip(t, testenv.OneCore)
	}
	program := build(t, oneAlone+team(2, "pthread_barrier_init(&b, 0, 2);", "print();"))
	const frequency = 2000
	for tries := 1; ; tries++ {
		var out strings.Builder
		p, _ := record(t, Options{Command: []string{program}, Frequency: frequency, Stdout: &out})
		if !hasSamples(p) {
			t.Fatal("no samples")
		}
		var alone, both float64
		if _, err := fmt.Sscan(out.String(), &alone, &both); err != nil {
			t.Fatal(err)
		}
		if both < 0.05*alone { // two threads that never worked together are no section with one idle
			if tries == 20 {
				t.Fatal("two threads never worked side by side")
			}
			continue
		}
		idle := 0.0
		for _, s := range p.Tables().PathSamples {
			if s.Metric == "idleness" {
				idle += s.Value
			}
		}
		if idle < mostlySampled*alone-lost(p, frequency) || idle > 1.1*alone {
			t.Errorf("idleness %.0f ns, the program measures %.0f ns", idle, alone)
		}
		t.Logf("idleness %.0f ns, the program measures %.0f ns: %+.1f %%", idle, alone, 100*(idle/alone-1))
		return
	}
}
