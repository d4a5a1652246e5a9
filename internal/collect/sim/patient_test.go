package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"lime/internal/profile"
)

// patientSource is a barrier of the program's own, whose threads look so often before they do
// something else, and look again. usage: made PATIENCE STEPS
const patientSource = `#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
enum { PARTIES = 6 };
static int arrived, epoch;
static long patience, steps;
static void wake(void) { WAKE; }
static void __attribute__((noinline)) meet(void) {
	int seen = __atomic_load_n(&epoch, 2);
	if (__atomic_add_fetch(&arrived, 1, 5) == PARTIES) {
		arrived = 0;
		__atomic_store_n(&epoch, seen + 1, 3);
		wake();
		return;
	}
	for (;;) {
		long i = 0;
		do
			if (__atomic_load_n(&epoch, 2) != seen) return;
		while (++i < patience);
		AFTER;
	}
}
static void *run(void *p) {
	for (long s = 0; s < steps; s++) {
		long n = 10000 + 5000 * (((long)p + s) % PARTIES);
		__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n));
		meet();
	}
	return 0;
}
int main(int argc, char **argv) {
	pthread_t t[PARTIES];
	patience = atol(argv[1]); steps = atol(argv[2]);
	for (long i = 1; i < PARTIES; i++) pthread_create(&t[i], 0, run, (void *)i);
	run(0);
	for (long i = 1; i < PARTIES; i++) pthread_join(t[i], 0);
	puts("done");
}
`

// patientWork is what all its threads do in so many steps, but for the barrier.
func patientWork(steps int) (sum uint64) {
	for k := range 6 {
		sum += uint64(2 * (10000 + 5000*k) * steps)
	}
	return sum
}

// What threads do but look and wait is known, and all else in the program's own barrier is waiting,
// for however long they look before they do something else, whatever that is, and whether each of
// them has a core or not. What a thread does in a wait until it has been looked at, may be work.
func TestPatienceIsNoWork(t *testing.T) {
	acts := map[string][2]string{ // what is done after so many looks, and by whom they wait for
		"nothing": {"", ""},
		"yield":   {"sched_yield()", ""},
		"sleep":   {"struct timespec ts = {0, 20000}; nanosleep(&ts, 0)", ""},
		"futex": {
			"syscall(SYS_futex, &epoch, FUTEX_WAIT, seen, 0, 0, 0)",
			"syscall(SYS_futex, &epoch, FUTEX_WAKE, 1 << 30, 0, 0, 0)",
		},
	}
	const steps, unseen = 5, 2000 // instructions of each wait
	for name, act := range acts {
		text := strings.NewReplacer("AFTER", act[0], "WAKE", act[1]).Replace(patientSource)
		bin := compileText(t, text, "gcc -O2 -g -w -pthread -Wl,-z,now")
		begun := patientRun(t, bin, 6, 1, 0)
		for _, cores := range []int{6, 3} {
			for _, patience := range []int{1, 100, 10_000, 100_000} {
				t.Run(fmt.Sprintf("%s/%d cores/%d looks", name, cores, patience), func(t *testing.T) {
					t.Parallel()
					got, want := patientRun(t, bin, cores, patience, steps)-begun, patientWork(steps)
					if got+want/100 < want || got > want+5*steps*unseen {
						t.Errorf("%d instructions are work, want %d", got, want)
					}
				})
			}
		}
	}
}

// patientRun is what all threads of such a program worked.
func patientRun(t *testing.T, bin string, cores, patience, steps int) (sum uint64) {
	t.Helper()
	path, status, said, out := simulated(t, cores, unnamed, "--", bin, fmt.Sprint(patience), fmt.Sprint(steps))
	if status != 0 || out != "done\n" {
		t.Fatalf("status %d, printed %q: %s", status, out, said)
	}
	for id := range 6 {
		sum += worked(t, path, profile.ThreadID(id))
	}
	return sum
}
