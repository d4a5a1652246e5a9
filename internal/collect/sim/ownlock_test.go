package sim_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/profile"
)

type lockKind struct{ name, lock, unlock string }

// library reports whether a library's function takes the lock.
func (k lockKind) library() bool {
	return strings.HasPrefix(k.lock, "pthread_") || strings.HasPrefix(k.lock, "GOMP_")
}

// ownLockKinds are locks that a program may build.
var ownLockKinds = []lockKind{
	{"xchg", "while (__atomic_exchange_n(&word, 1, 2)) ;", "__atomic_store_n(&word, 0, 3);"},
	{"test and xchg", "while (__atomic_exchange_n(&word, 1, 2)) while (*(volatile int *)&word) " +
		"__builtin_ia32_pause();", "__atomic_store_n(&word, 0, 3);"},
	{"cmpxchg", "for (int z = 0; !__atomic_compare_exchange_n(&word, &z, 1, 0, 2, 0); z = 0) __builtin_ia32_pause();",
		"__atomic_store_n(&word, 0, 3);"},
	{"xchg gives back", "while (__atomic_exchange_n(&word, 1, 2)) __builtin_ia32_pause();", "__atomic_exchange_n(&word, 0, 3);"},
	{"yields", "while (__atomic_exchange_n(&word, 1, 2)) sched_yield();", "__atomic_store_n(&word, 0, 3);"},
	{"pthread spin", "pthread_spin_lock(&spin);", "pthread_spin_unlock(&spin);"},
	{"mutex", "pthread_mutex_lock(&mutex);", "pthread_mutex_unlock(&mutex);"},
	{"critical region", "GOMP_critical_start();", "GOMP_critical_end();"},
}

const ownLockSource = `#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
void GOMP_critical_start(void), GOMP_critical_end(void);
static int word; static pthread_spinlock_t spin; static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile long shared[64]; static long rounds, took[64]; static pthread_barrier_t bar;
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
static void *worker(void *p) {
	pthread_barrier_wait(&bar);
	long t = now();
	for (long i = 0; i < rounds; i++) {
		TAKE
		for (int k = 0; k < 256; k++) shared[k & 63]++;
		GIVE
		for (int k = 0; k < 10; k++) __asm__ volatile("");
	}
	took[(long)p] = now() - t;
	return 0;
}
int main(int c, char **v) {
	long P = atoi(v[1]); pthread_t t[64];
	rounds = 1600 / P; pthread_spin_init(&spin, 0); pthread_barrier_init(&bar, 0, P);
	for (long i = 0; i < P; i++) pthread_create(&t[i], 0, worker, (void *)i);
	for (long i = 0; i < P; i++) pthread_join(t[i], 0);
	long least = took[0], most = 0;
	for (long i = 0; i < P; i++) { if (took[i] < least) least = took[i]; if (took[i] > most) most = took[i]; }
	printf("%ld %ld %ld\n", shared[0], least, most);
}
`

// What is done under a lock is done by one thread at a time in simulated time, too: the same rounds
// take P threads as long as one.
func TestOwnLocksExclude(t *testing.T) {
	for i, k := range ownLockKinds {
		for _, cc := range []string{"gcc -O2", "clang -O1"} {
			t.Run(k.name+"/"+strings.ReplaceAll(cc, " ", ""), func(t *testing.T) {
				t.Parallel()
				bin := lockProgram(t, i, cc)
				_, alone, _ := lockTimes(t, "count", bin, 1)
				for _, threads := range []int{4, 16} {
					sum, least, most := lockTimes(t, "count", bin, threads)
					if sum != 4*1600 || float64(most) < 0.9*float64(alone) || float64(most) > 2*float64(alone) {
						t.Errorf("%d threads: %d rounds, the threads take %d to %d, one alone %d", threads, sum, least, most, alone)
					}
				}
			})
		}
	}
}

// On a machine a lock is handed on as fast as its line is, to whoever wants it: nobody has run so
// far ahead of time meanwhile that the lock lies idle until then, and nobody has it for all of his
// rounds before the next one has it first.
func TestLocksAreHandedOn(t *testing.T) {
	for i, k := range ownLockKinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			bin := lockProgram(t, i, "gcc -O2")
			_, alone, _ := lockTimes(t, "lime2011", bin, 1)
			sum, least, most := lockTimes(t, "lime2011", bin, 8)
			fair := k.library() // of the others it takes a while until they are known for locks
			if sum != 4*1600 || float64(most) < 0.9*float64(alone) || float64(most) > 3*float64(alone) || fair &&
				float64(least) < 0.8*float64(most) {
				t.Errorf("%d rounds, the threads take %d to %d, one alone %d", sum, least, most, alone)
			}
		})
	}
}

// What a thread does in a call that waits for a lock is no work, however the lock was handed over:
// with many threads as many instructions count as with one.
func TestContendedCallsAreNoWork(t *testing.T) {
	for i, k := range ownLockKinds {
		if !k.library() {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			bin := lockProgram(t, i, "gcc -O2")
			alone, beside := countedIn(t, bin, 1), countedIn(t, bin, 8)
			if float64(beside) > 1.05*float64(alone) || float64(beside) < 0.95*float64(alone) {
				t.Errorf("eight threads: %d instructions are work, with one %d", beside, alone)
			}
		})
	}
}

// countedIn is how many instructions are counted in sections.
func countedIn(t *testing.T, bin string, threads int) (sum uint64) {
	t.Helper()
	path, status, said, _ := simulated(t, 16, unnamed, "--", bin, fmt.Sprint(threads))
	if status != 0 {
		t.Fatalf("status %d: %s", status, said)
	}
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	addsUp(t, p)
	for _, a := range p.Tables().Accounts {
		if a.What == profile.InSections {
			sum += a.Instrs
		}
	}
	return sum
}

// lockProgram builds the program with the i-th kind of lock.
func lockProgram(t *testing.T, i int, cc string) string {
	t.Helper()
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "lock.c"), filepath.Join(dir, fmt.Sprintf("lock%d", i))
	text := strings.NewReplacer("GIVE", ownLockKinds[i].unlock, "TAKE", ownLockKinds[i].lock).Replace(ownLockSource)
	if strings.Contains(ownLockKinds[i].lock, "GOMP") {
		cc = "gcc -O2 -fopenmp"
	}
	if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	words := append(strings.Fields(cc), "-g", "-w", "-pthread", "-o", bin, src)
	if text, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cc, err, text)
	}
	return bin
}

// lockTimes simulates the program on a model, and returns what it printed.
func lockTimes(t *testing.T, model, bin string, threads int) (sum, least, most int64) {
	t.Helper()
	args := []string{unnamed, "--", bin, fmt.Sprint(threads)}
	if model != "count" {
		args = append([]string{"--machine", model}, args...)
	}
	_, status, said, out := simulated(t, 16, args...)
	if n, err := fmt.Sscan(out, &sum, &least, &most); status != 0 || n != 3 {
		t.Fatalf("status %d, printed %q, %v: %s", status, out, err, said)
	}
	return sum, least, most
}
