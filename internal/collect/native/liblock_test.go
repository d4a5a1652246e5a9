package native

import (
	"fmt"
	"strings"
	"testing"
)

const streams = measuring + `
static long slept;
static FILE *f;
static void *work(void *a) {
	long me = (long)a;
	for (int r = 0; r < 10; r++) {
		if (me == 0) flockfile(f);
		pthread_barrier_wait(&b);
		if (me == 0) {
			usleep(20000);
			funlockfile(f);
		} else {
			long from = asleep();
			putc('x', f); /* LOCK */
			slept += asleep() - from;
		}
		pthread_barrier_wait(&b);
	}
	return stays();
}
`

// Who sleeps until a lock of the C library's own is free, as of a stream or of the allocator, waits
// for a lock, at the program's own call.
func TestLocksOfTheLibrary(t *testing.T) {
	needs(t, needSamples, needTracing)
	before := `pthread_barrier_init(&done, 0, 3); pthread_barrier_init(&b, 0, 2); f = fopen("/dev/null", "w");`
	program := build(t, streams+staying(2, before, `printf("%ld\n", slept);`))
	for _, looks := range []bool{false, true} {
		var out strings.Builder
		p, _ := record(t, Options{Command: []string{program}, Stdout: &out, NoLeavings: looks})
		truth := 0.0
		if _, err := fmt.Sscan(out.String(), &truth); err != nil || truth == 0 {
			t.Fatalf("off the core for %.0f ns, %v", truth, err)
		}
		costs, _ := offCosts(p)
		locks := lockCosts(p)
		if locks < truth/2 || costs[kindFutex] > truth/20 {
			t.Errorf("looks %t: %.0f ns of waiting for locks; the program measures %.0f ns; off the core by kind %v", looks, locks, truth, costs)
		}
	}
}
