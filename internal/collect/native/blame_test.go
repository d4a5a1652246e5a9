package native

import (
	"fmt"
	"strings"
	"testing"

	"lime/internal/profile"
)

const unevenHolders = `
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long waited[4], held[4];
static volatile long sink[64];
static long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}
static void hold(long me, long n) {
	long from = now();
	pthread_mutex_lock(&m);
	long got = now();
	waited[me] += got - from;
	for (long i = 0; i < n; i++) sink[8 * me] += i;
	held[me] += now() - got;
	pthread_mutex_unlock(&m);
}
static void *work(void *a) {
	long me = (long)a;
	for (int r = 0; r < 15; r++) {
		hold(me, me == 0 ? 4000000 : 100000);
		for (long i = 0; i < 1000000; i++) sink[8 * me] += i;
	}
	return 0;
}
`

// What four threads wait for a lock is what they measure themselves, and all of it is charged to
// those who hold it.
func TestLockBlameAgreesWithTheProgram(t *testing.T) {
	needs(t, needSamples, needTracing)
	var out strings.Builder
	p, _ := record(t, Options{Command: []string{build(t,
		unevenHolders+team(4, "", `for (int i = 0; i < 4; i++) printf("%ld %ld\n", waited[i], held[i]);`))}, Stdout: &out})
	truth, longest, most := 0.0, profile.ThreadID(0), 0.0
	for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		var waited, held float64
		if _, err := fmt.Sscan(line, &waited, &held); err != nil {
			t.Fatal(err)
		}
		if truth += waited; held > most {
			longest, most = profile.ThreadID(i+1), held
		}
	}
	metric, blame := map[string]float64{}, map[profile.ThreadID]float64{}
	for _, s := range p.Tables().PathSamples {
		metric[s.Metric] += s.Value
		if s.Metric == "lock-blame" {
			blame[s.Thread] += s.Value
		}
	}
	for _, m := range []string{"lock-wait", "lock-blame"} {
		if d := metric[m] / truth; d < 0.95 || d > 1.05 {
			t.Errorf("%s %.0f ns, the program measures %.0f ns", m, metric[m], truth)
		}
	}
	if blame[longest] == 0 {
		t.Errorf("thread %d, which holds the lock longest, is charged nothing: %v", longest, blame)
	}
	t.Logf("lock wait %+.3f %%, lock blame %+.3f %%, %.0f %% of it to the one that holds it longest",
		100*(metric["lock-wait"]/truth-1), 100*(metric["lock-blame"]/truth-1), 100*blame[longest]/metric["lock-blame"])
}
