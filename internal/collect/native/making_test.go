package native

import (
	"fmt"
	"strings"
	"testing"

	"lime/internal/profile"
)

// Threads stand on the time line behind what the thread that made them had done by then: before the
// first one, and between two of them.
func TestThreadsStartBehindTheirMaker(t *testing.T) {
	needs(t, needSamples, needTracing)
	program := build(t, measuring+`
static void *work(void *a) { spin((long)a, 20000000); return 0; }
static long mine(void) { return at(CLOCK_THREAD_CPUTIME_ID); }
int main(void) {
	pthread_t t[3];
	long before[3];
	for (long i = 0; i < 3; i++) {
		long begun = mine(); /* what execve(2) and clone(2) take is the kernel's, and lime's own */
		spin(4, 30000000);
		before[i] = mine() - begun;
		pthread_create(&t[i], 0, work, (void *)i);
	}
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	printf("%ld %ld %ld\n", before[0], before[1], before[2]);
}
`)
	var out strings.Builder
	p, _ := record(t, Options{Command: []string{program}, Stdout: &out})
	var apart [3]float64
	if _, err := fmt.Sscan(out.String(), &apart[0], &apart[1], &apart[2]); err != nil {
		t.Fatalf("%q: %v", out.String(), err)
	}
	begin := map[profile.ThreadID]float64{}
	for id, s := range p.Tables().Sections {
		if s.Kind != profile.SectionJoin {
			continue
		}
		for in := range p.Instances(profile.SectionID(id)) {
			for i := range in.Parts {
				if at, ok := begin[in.Parts[i].Thread]; !ok || float64(in.Parts[i].Start) < at {
					begin[in.Parts[i].Thread] = float64(in.Parts[i].Start)
				}
			}
		}
	}
	last := 0.0
	for i, least := range apart {
		at, ok := begin[profile.ThreadID(i+1)]
		if !ok || at < last+0.9*least {
			t.Errorf("thread %d begins at %.0f ns (%t), the one before it at %.0f ns; its maker worked %.0f ns in between", i+1, at, ok, last, least)
		}
		last = at
	}
}
