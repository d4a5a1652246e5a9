package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
)

const shortWaitSource = `#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#define V(x) (*(volatile __typeof__(x) *)&(x))
static _Bool sense; static int turn, *volatile word = &turn; static struct { int turn; } *at = (void *)&turn;
static volatile long sum[2][16]; static pthread_barrier_t both;
static __attribute__((noinline)) void work(int who, long n) { for (long i = 0; i < n; i++) sum[who][0] += i; }
LOOPS
static void (*const all[])(int) = { TABLE };
enum { loops = sizeof all / sizeof *all, rounds = 4 };
static void *waiter(void *p) {
	for (int i = 0; i < loops * rounds; i++) { pthread_barrier_wait(&both); work(0, 20000); all[i / rounds](i + 1); }
	return 0;
}
static void *worker(void *p) {
	for (int i = 0; i < loops * rounds; i++) {
		pthread_barrier_wait(&both);
		work(1, 22000);
		__atomic_store_n(&sense, (i + 1) & 1, 3);
		__atomic_store_n(&turn, i + 1, 3);
	}
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

// shortWaits is a program that waits in each of the loops of a table, but for those that compute how long
// they pause by adding a number to itself, or by a division: by their code they may work on that.
func shortWaits() (text string, loops []string) {
	all, table := "", ""
	for _, turn := range slices.Concat(spinTurns, spinBacks[:1], spinBacks[3:]) {
		for _, look := range spinLooks[:5] {
			i := len(loops)
			loop := turn.in(look, spinActs[1+i%2], spinActs[1+i/2%2], []int{2, 7, 64}[i%3])
			loops = append(loops, loop)
			all += fmt.Sprintf("static __attribute__((noinline)) void waits%d(int mine) { %s }\n", i, loop)
			table += fmt.Sprintf("waits%d, ", i)
		}
	}
	return strings.NewReplacer("LOOPS", all, "TABLE", table).Replace(shortWaitSource), loops
}

// What is left of a wait in a loop is the way to it and from it: each instruction of a function that only
// waits once at most, however short the wait is, whether a thread was seen there or not.
func TestShortWaitsAreNoWork(t *testing.T) {
	const most = 4 * 128 // rounds, and more instructions than any of these functions has
	text, loops := shortWaits()
	for _, cc := range []string{"gcc -O0", "gcc -O2", "clang -O2"} {
		t.Run(strings.ReplaceAll(cc, " ", ""), func(t *testing.T) {
			path := countedRun(t, buildText(t, text, ".c", cc), fmt.Sprintln(4*len(loops)))
			p, err := profile.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			by := instructionsBy(t, p)
			for i, loop := range loops {
				if n := by[fmt.Sprintf("waits%d", i)]; n > most {
					t.Errorf("%s: %d instructions are work", loop, n)
				}
			}
		})
	}
}

// instructionsBy is how many instructions of each function count as work.
func instructionsBy(t *testing.T, r *profile.Reader) map[string]uint64 {
	t.Helper()
	tab, by := r.Tables(), map[string]uint64{}
	if err := r.Scan(func(in *profile.Instance) error {
		for _, c := range in.Edges {
			if e := &tab.Edges[c.Row]; e.From >= 0 && e.Kind != profile.EdgeReturn {
				n := &tab.Nodes[e.From]
				by[tab.Functions[n.Function].Name] += uint64(c.N) * uint64(n.Instrs)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return by
}
