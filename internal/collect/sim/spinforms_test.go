package sim_test

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lime/internal/testenv"
)

// The oracle of waits by spinning: made programs whose thread 1 waits for thread 0, time and again,
// in a loop of forms_test.go, put together with the parts below. What it does every N-th time, and how long it backs off,
// must not decide whether it is seen to wait.

// spinLooks say that thread 1 has to go on waiting.
var spinLooks = []string{
	"V(turn) != mine", "__atomic_load_n(&turn, 2) != mine", "V(turn) < mine", "V(*word) != mine", "V(at->turn) - mine < 0",
	"(V(sense) != 0) != (mine & 1)",
}

// spinKeeps are what thread 1 computes between its waits: the compiler may keep constants for that in
// registers that a call does not save, and make them again behind each call in the loop that waits.
var spinKeeps = []string{
	"", "d[0] = d[0] * 1.0000001 + 0.5;", "for (int i = 0; i < 8; i++) d[i] = d[i] * 1.25 - 3.0 > 0.0 ? d[i] * 0.5 : 0.0;",
}

// spinActs are what is done between looks.
var spinActs = []string{yields, pauses, `__asm__ volatile("");`, "rest();"}

const spinFormSource = `#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#define V(x) (*(volatile __typeof__(x) *)&(x))
static _Bool sense; static double d[8]; static int turn, *volatile word = &turn; static struct { int turn; } *at = (void *)&turn; static long sum[2];
static pthread_barrier_t begun;
static void __attribute__((noinline)) rest(void) { sched_yield(); __builtin_ia32_pause(); }
static void *waiter(void *p) {
	pthread_barrier_wait(&begun);
	for (int mine = 1; mine <= 8; mine++) { LOOP sum[1]++; KEEP }
	return 0;
}
static void *worker(void *p) {
	long x = 1;
	pthread_barrier_wait(&begun);
	for (int mine = 1; mine <= 8; mine++) {
		for (long i = 0; i < 40000; i++) { x = x * 31 + i; __asm__ volatile("" : "+r"(x)); }
		__atomic_store_n(&sense, mine & 1, 3);
		__atomic_store_n(&turn, mine, 3);
	}
	sum[0] = x;
	return 0;
}
int main(void) {
	pthread_t a, b;
	pthread_barrier_init(&begun, 0, 2);
	pthread_create(&a, 0, worker, 0); pthread_create(&b, 0, waiter, 0);
	pthread_join(a, 0); pthread_join(b, 0);
	printf("%d %d\n", sum[0] != 0, (int)sum[1]);
}
`

// spinForm is the loop of a seed, and what is computed behind it.
func spinForm(rng *rand.Rand) (loop, keep string) {
	pick := func(list []string) string { return list[rng.Intn(len(list))] }
	all := slices.Concat(spinTurns, spinBacks)
	l := all[rng.Intn(len(all))]
	n := []int{1, 2, 7, 64, 200, 256, 1000, 2047, 5000}[rng.Intn(9)]
	return l.in(pick(spinLooks), pick(spinActs[1:3]), pick(spinActs), n), pick(spinKeeps)
}

// Whoever waits so works for a twentieth at most of what it waits for.
func TestSpinningOfAnyPeriodIsSeen(t *testing.T) {
	testenv.Tool(t, "gcc", "clang")
	draws := 24
	if os.Getenv("LIME_LONG") != "" {
		draws = 600
	}
	for seed := range draws {
		cc := oracleCompilers[seed%len(oracleCompilers)]
		t.Run(fmt.Sprintf("%d/%s", seed, strings.ReplaceAll(cc, " ", "")), func(t *testing.T) {
			t.Parallel()
			loop, keep := spinForm(rand.New(rand.NewSource(int64(seed))))
			bin := compileText(t, strings.NewReplacer("LOOP", loop, "KEEP", keep).Replace(spinFormSource), cc+" -g -w -pthread")
			path, status, said, out := simulated(t, 4, unnamed, "--", bin)
			if status != 0 || out != "1 8\n" {
				t.Fatalf("%s %s: status %d, printed %q: %s", loop, keep, status, out, said)
			}
			if wait, work := worked(t, path, 1), worked(t, path, 2); work*20 > wait {
				t.Errorf("%s %s: the one that waits worked for %d, the other one for %d", loop, keep, work, wait)
			}
		})
	}
}

// compileText builds a C program of a text.
func compileText(t *testing.T, text, command string) (bin string) {
	t.Helper()
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "made.c"), filepath.Join(dir, "made")
	if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	words := append(strings.Fields(command), "-o", bin, src)
	testenv.Tool(t, words[0])
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return bin
}
