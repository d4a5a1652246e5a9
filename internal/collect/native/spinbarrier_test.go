package native

import (
	"testing"

	"lime/internal/profile"
)

// A barrier in front of which all but the last one sleep in the first round, and spin in all
// others. Who comes last tells those who sleep, every time.
const spinsThenSleeps = `
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int count, round_;
static volatile double sink[8];
__attribute__((noinline)) static void meet(void) {
	int mine = atomic_load(&round_);
	if (atomic_fetch_add(&count, 1) == 3) {
		atomic_store(&count, 0);
		atomic_store(&round_, mine + 1);
		syscall(SYS_futex, &round_, FUTEX_WAKE_PRIVATE, 2147483647, 0, 0, 0);
		return;
	}
	if (mine == 0)
		syscall(SYS_futex, &round_, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
	while (atomic_load(&round_) == mine) {
		__builtin_ia32_pause();
		usleep(50);
	}
}
static void *work(void *arg) {
	long me = (long)arg;
	for (int i = 0; i < 10; i++) {
		for (long k = 0; k < 100000 * (me + 1); k++) sink[me] += k;
		meet();
	}
	return arg;
}
`

func TestBarrierThatSpinsBeforeItSleeps(t *testing.T) {
	needs(t, needSamples, needTracing)
	p, _ := record(t, Options{Command: []string{build(t, spinsThenSleeps+team(4, "", ""))}})
	whole := 0
	for id, s := range p.Tables().Sections {
		for in := range p.Instances(profile.SectionID(id)) {
			if s.Kind == profile.SectionBuilt && len(in.Parts) == 4 {
				whole++
			}
		}
	}
	if whole < 9 { // in the first round the one who comes last may not have been seen before
		t.Errorf("%d of 10 rounds are sections of all four threads, want 9 at least", whole)
	}
}
