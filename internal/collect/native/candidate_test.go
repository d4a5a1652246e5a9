package native

import (
	"strings"
	"testing"

	"lime/internal/profile"
)

// What threads do at a candidate, in order ("a+" thread a comes in, "a-" goes out, "a." ends), and
// what is known of it then.
func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		name, ops string
		want      candidateState
	}{
		{"one round is not enough", "a+ b+ c+ c- a- b-", candidateWatched},
		{"a barrier", "a+ b+ c+ c- a- b- b+", candidateKnown},
		{"somebody is in the first round still", "a+ b+ c+ c- a- c+ a+ b- b+ a-", candidateKnown},
		{"a barrier of two at a time", "a+ b+ b- b+ a- a+ a- a+ b- b+", candidateKnown},
		{"a lock", "a+ a- b+ b- a+ a- b+ b- a+ a-", candidateRefuted},
		{"a lock that all wait for first", "a+ b+ c+ a- a+ b- a- a+ a- a+ a- a+ a- a+ a- a+ a- a+ a- a+ a-", candidateRefuted},
		{"a queue of one", "a+ a- a+ a- a+ a-", candidateWatched},
		{"one comes later than the others", "a+ b+ b- a- c+ a+ b+ b- a- c- a+", candidateKnown},
		{"one goes on and ends", "a+ b+ c+ c- a- b- c+ c- c. a+ b+ a- a+ b- b+", candidateKnown},
		{"one ends, the others go on", "a+ b+ c+ c- a- b- c. a+ b+ a- b- a+ b+", candidateKnown},
	} {
		threads, g := map[byte]*thread{}, newCandidate(0)
		for _, op := range strings.Fields(c.ops) {
			x := threads[op[0]]
			if x == nil {
				x = &thread{}
				threads[op[0]] = x
			}
			if g.state == candidateRefuted {
				break
			}
			switch op[1] {
			case '+':
				g.comes(x)
			case '-':
				g.goes(x, 0)
			case '.':
				x.ended = true
			}
		}
		if g.state != c.want {
			t.Errorf("%s: state %d after %d fails, want %d", c.name, g.state, g.fails, c.want)
		}
	}
}

const meeting3 = `
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static atomic_int count[2], sense[2], flags[3][4];
static atomic_long sum;
static volatile int value;
#define MEET(k) do { \
	*mine = !*mine; \
	if (atomic_fetch_add(&count[k], 1) == 3) { atomic_store(&count[k], 0); atomic_store(&sense[k], *mine); } \
	else while (atomic_load(&sense[k]) != *mine) sched_yield(); } while (0)
__attribute__((noinline)) static void central(int *mine) { MEET(0); }
__attribute__((noinline)) static void dissemination(int id, int round) {
	for (int k = 0, d = 1; d < 4; k++, d *= 2) {
		atomic_store_explicit(&flags[k][(id + d) % 4], round, memory_order_release);
		while (atomic_load_explicit(&flags[k][id], memory_order_acquire) < round) sched_yield();
	}
}
static void *work(void *arg) {
	int one = 0, two = 0;
	for (int r = 1; r <= 20; r++) {
		for (int i = 0; i < 50; i++) value = i;
		central(&one); /* 1 */
		for (int i = 0; i < 50; i++) value = i;
		{ int *mine = &two; MEET(1); }
		for (int i = 0; i < 50; i++) value = i;
		dissemination((int)(long)arg, r); /* 3 */
		atomic_fetch_add(&sum, r);
	}
	return 0;
}
int main(void) {
	pthread_t t[4];
	for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
	return sum == 4 * 210 ? 7 : 1;
}
`

// Barriers that the program built itself and that spin, functions and others, end sections, from
// the first round on.
func TestOwnBarriers(t *testing.T) {
	needs(t, needTracing)
	for _, flags := range [][]string{{"-O2"}, {"-O2", "-no-pie"}, {"-O2", "-static"}} {
		p, res := record(t, Options{Command: []string{buildWith(t, "gcc", meeting3, flags...)}, NoPerf: true})
		if res.Status != 7 {
			t.Errorf("%v: the program ended with %d", flags, res.Status)
		}
		n, pieces := map[int]int{}, 0
		for id, row := range p.Tables().Sections {
			for in, err := range p.Instances(profile.SectionID(id)) {
				if err != nil {
					t.Fatal(err)
				}
				if row.Kind == profile.SectionBuilt && len(in.Parts) == 4 {
					n[id]++
					if p := &in.Parts[0]; p.Exit != profile.None && p.ExitStack != nil {
						pieces++
					}
				}
			}
		}
		for id, k := range n {
			if k != 20 {
				t.Errorf("%v: section %d has %d instances, want 20", flags, id, k)
			}
		}
		if pieces != 20 {
			t.Errorf("%v: of %d instances it is known where in the function they end, want 20", flags, pieces)
		}
		if len(n) != 3 {
			t.Errorf("%v: %d sections end at barriers of the program's own, want 3: %v", flags, len(n), p.Tables().Sections)
		}
	}
}
