package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"lime/internal/profile"
	"lime/internal/testenv"
)

// Waits with a time-out: thread 0 goes round a loop until memory changes, or the clock says that it has
// waited for long enough. That is no work, however the time is read and computed with.

const timeoutSource = `#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <x86intrin.h>
#define V(x) (*(volatile __typeof__(x) *)&(x))
#define LOOK (V(turn) < mine)
#define SECOND 1000000000L
static int turn; static double progress; static pthread_barrier_t both; static long sum[32], data[1024]; static double kept;
static inline struct timespec at(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t; }
static inline long ns(void) { struct timespec t = at(); return t.tv_sec * SECOND + t.tv_nsec; }
static inline double wtime(void) { struct timeval t; gettimeofday(&t, 0); return t.tv_sec + t.tv_usec * 1e-6; }
static inline double dtime(void) { struct timespec t = at(); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }
static inline unsigned long ticks(void) { unsigned c; return __rdtscp(&c); }
LOOPS
static void (*const all[])(int) = { TABLE };
enum { loops = sizeof all / sizeof *all };
static void *waiter(void *p) {
	for (int i = 0; i < loops; i++) { pthread_barrier_wait(&both); all[i](i + 1); }
	return 0;
}
static void *worker(void *p) {
	long x = 1;
	for (int i = 0; i < loops; i++) {
		pthread_barrier_wait(&both);
		for (long k = 0; k < 40000; k++) { x = x * 31 + k; __asm__ volatile("" : "+r"(x)); }
		V(progress) = i + 1;
		__atomic_store_n(&turn, i + 1, 3);
	}
	sum[0] = x;
	return 0;
}
int main(void) {
	pthread_t a, b;
	pthread_barrier_init(&both, 0, 2);
	pthread_create(&a, 0, worker, 0); pthread_create(&b, 0, waiter, 0);
	pthread_join(a, 0); pthread_join(b, 0);
	printf("%d\n", turn);
}
`

// timeouts wait.
var timeouts = []string{
	"long end = ns() + 5 * SECOND; while (LOOK) if (ns() > end) return;",
	"long from = ns(); while (LOOK) { if ((ns() - from) / 1000000 > 5000) return; _mm_pause(); }",
	"double from = wtime(); while (LOOK) { if (wtime() - from > 5) return; _mm_pause(); }",
	"time_t from = time(0); while (LOOK) if (time(0) - from > 5) return;",
	"unsigned long from = __rdtsc(); while (LOOK) { if (__rdtsc() - from > 1ul << 40) return; sched_yield(); }",
	"unsigned from = ticks(); while (LOOK) if ((unsigned)ticks() - from > 1u << 31) return;",
	"long end = ns() + 5 * SECOND; for (unsigned n = 1; LOOK; n++) { if (n % 64 == 0 && ns() > end) return; _mm_pause(); }",
	"long end = ns() + 5 * SECOND; for (;;) { for (int i = 0; i < 40; i++) { if (!LOOK) return; _mm_pause(); } " +
		"if (ns() > end) return; sched_yield(); }",
	"struct timespec a = at(); while (LOOK) { struct timespec b = at(); long s = b.tv_sec - a.tv_sec, n = b.tv_nsec - a.tv_nsec; " +
		"if (n < 0) { s--; n += SECOND; } if (s > 5 || s == 5 && n > 0) return; }",
	"long end = ns() + 5 * SECOND; do { if (!LOOK) return; } while (ns() < end);",
	"double end = dtime() + 5; while (LOOK) if (dtime() > end) return;",
	"while (V(progress) < mine) _mm_pause();",
	"double from = dtime(); while (V(progress) * 2 < mine * 2.0 - 0.5) { if (dtime() - from > 5) return; sched_yield(); }",
}

// meanwhile do something else until it is time, or as long as they wait.
var meanwhile = []string{
	"long end = ns() + SECOND / 2000; while (ns() < end) ;",
	"long x = mine, end = ns() + 5 * SECOND; while (LOOK) { for (int i = 0; i < 50; i++) x = x * 31 + i; V(sum[mine & 31]) = x; " +
		"if (ns() > end) return; }",
	"double s = mine; long end = ns() + 5 * SECOND; while (LOOK) { s = s * 1.0001 + (double)V(data[3]) + 1; if (ns() > end) return; } V(kept) = s;",
	"unsigned long x = mine, h = 0; while (LOOK) { x = x * 6364136223846793005ul + 1442695040888963407ul; h += x >> 60; } V(sum[4]) = h;",
	"double x = mine, h = 0; while (LOOK) { x = x * 3.9 * (1 - x); h += x; } V(kept) = h;",
	"unsigned i = 0; long s = 0, end = ns() + 5 * SECOND; while (LOOK) { s += V(data[i++ & 1023]); if (ns() > end) return; } V(sum[3]) = s;",
}

// timeoutProgram has them all, as functions waits0 and so on and works0 and so on.
func timeoutProgram() string {
	all, table := "", ""
	add := func(name string, loops []string) {
		for i, loop := range loops {
			all += fmt.Sprintf("static __attribute__((noinline)) void %s%d(int mine) { %s }\n", name, i, loop)
			table += fmt.Sprintf("%s%d, ", name, i)
		}
	}
	add("waits", timeouts)
	add("works", meanwhile)
	return strings.NewReplacer("LOOPS", all, "TABLE", table).Replace(timeoutSource)
}

// The way into a wait and out of it is a few rounds, followed to prove it.
func TestTimeOutsAreWaits(t *testing.T) {
	const most = 4000 // instructions, of some 200,000 in which the other thread works
	testenv.Tool(t, "gcc", "clang")
	for _, cc := range []string{"gcc -O2", "clang -O2", "gcc -O0"} {
		bin := buildText(t, timeoutProgram(), ".c", cc)
		t.Run(cc, func(t *testing.T) {
			path, status, said, out := simulated(t, 4, "--", bin)
			if want := fmt.Sprintln(len(timeouts) + len(meanwhile)); status != 0 || out != want {
				t.Fatalf("status %d, printed %q: %s", status, out, said)
			}
			p, err := profile.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			by := instructionsBy(t, p)
			for i, loop := range timeouts {
				if n := by[fmt.Sprintf("waits%d", i)]; n > most {
					t.Errorf("%s: %d instructions are work", loop, n)
				}
			}
			for i, loop := range meanwhile {
				if n := by[fmt.Sprintf("works%d", i)]; n < most {
					t.Errorf("%s: %d instructions only are work", loop, n)
				}
			}
		})
	}
}
