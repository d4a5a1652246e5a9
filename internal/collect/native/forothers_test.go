package native

import (
	"fmt"
	"strings"
	"testing"
)

// waiting is a program whose thread 1 waits for thread 0 again and again, and measures that. It waits for
// as long on any processor: to be woken takes some 10 us, which lime counts and the program does not.
const waiting = measuring + `
#include <semaphore.h>
static sem_t sem;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static long slept, ready;
static void give(void) { %[1]s }
static void take(void) { %[2]s }
static void *work(void *a) {
	long me = (long)a, from = asleep();
	for (int r = 0; r < 300; r++)
		if (me == 0) {
			for (long to = at(CLOCK_THREAD_CPUTIME_ID) + 1000000; at(CLOCK_THREAD_CPUTIME_ID) < to;) spin(me, 20000);
			give();
		} else
			take();
	if (me == 1) slept = asleep() - from;
	return stays();
}
`

// Who is away in a function that is known waits for what that function waits for, whichever system
// call it makes: no futex that is no known lock.
func TestWaitsForOthers(t *testing.T) {
	needs(t, needSamples, needTracing)
	for _, row := range []struct{ name, give, take string }{
		{"semaphore", "sem_post(&sem);", "sem_wait(&sem);"},
		{"queue", "pthread_mutex_lock(&m); ready++; pthread_cond_signal(&c); pthread_mutex_unlock(&m);",
			"pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); ready--; pthread_mutex_unlock(&m);"},
		{"a word that is counted up", "__atomic_add_fetch(&ready, 1, 5); syscall(SYS_futex, &ready, 1, 1, 0, 0, 0);",
			"while (!__atomic_load_n(&ready, 5)) syscall(SYS_futex, &ready, 0, 0, 0, 0, 0); __atomic_sub_fetch(&ready, 1, 5);"},
	} {
		source := fmt.Sprintf(strings.ReplaceAll(waiting, "%ld", "%%ld"), row.give, row.take)
		program := build(t, source+staying(2, "pthread_barrier_init(&done, 0, 3); sem_init(&sem, 0, 0);", `printf("%ld\n", slept);`))
		var out strings.Builder
		p, _ := record(t, Options{Command: []string{program}, Stdout: &out})
		var truth float64
		if _, err := fmt.Sscan(out.String(), &truth); err != nil || truth == 0 {
			t.Fatalf("%s: waits for %.0f ns, %v", row.name, truth, err)
		}
		costs, _ := offCosts(p)
		queued := metricSum(p, metricQueue) // meanwhile nobody gets on with what the thread waits for
		if got := costs[kindWork]; got > 1.05*truth || got < 0.95*(truth-queued) || costs[kindFutex] > 0.05*truth {
			t.Errorf("%s: %.0f ns of waiting for others, %.0f ns without a core; the program measures %.0f ns; by "+
				"kind %v", row.name, got, queued, truth, costs)
		}
	}
}

// The clock of waits for one another goes by the share of those who could run that have a core.
func TestPace(t *testing.T) {
	var p pace
	var a, b paced
	for _, step := range []struct {
		at   uint64
		of   *paced
		runs bool
		able bool
		want uint64
	}{
		{100, &a, true, true, 0},    // a runs
		{150, &b, false, true, 50},  // b could
		{160, &a, false, false, 55}, // a sleeps: one of two had a core
		{190, &b, true, true, 55},   // b runs: nobody had
		{195, &b, false, false, 60}, // all sleep
		{200, &b, false, false, 65},
	} {
		p.to(step.at)
		if p.set(step.of, step.runs, step.able); p.now != step.want {
			t.Errorf("at %d the clock says %d, want %d", step.at, p.now, step.want)
		}
	}
}
