package sim_test

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lime/internal/profile"
)

// The oracle against waits that are none. A made program's threads run loops of many shapes over
// memory that nobody changes, and measure the simulated time that this takes them. Beside one
// another they must take exactly as long as each takes alone, in a process of one thread, where
// nobody can wait; and no lock, wait or deadlock may be reported.

// shapes are loops; N is a number of rounds that differs from thread to thread, K a random
// constant. Each is work: it ends by itself, or would go on for ever.
var shapes = []string{
	`for (int i = LIM.max >> 1; i > LIM.level; i >>= 1) { r += i; if (LIM.flag) return -1; }`,
	`for (int q = 0; q < N; q++) for (int i = LIM.max >> 1; i > LIM.level; i >>= 1) if (LIM.flag) return -1;`,
	`{ int i = 0; while (i < LIM.n && a[i] < N % 4000) { if (LIM.cancel) return -1; i++; } r += i; }`,
	`for (int q = 0; q < N / 64; q++) { int i = 0; while (i < LIM.n && a[i] < K) { if (LIM.cancel) return -1; i++; } r += i; }`,
	`for (int q = 0; q < N / 32; q++) { int k = q & 15; while (text[k] != '|') k++; r += k; }`,
	`{ struct node *p = &nodes[K & 63]; for (int i = 0; i < N; i++) { while (p->next && p->key != N % 1000) { p = p->next; if (LIM.cancel) break; } r += p->key; p = &nodes[i & 255]; } }`,
	`for (int q = 0; q < N / 8; q++) { unsigned h = q * 2654435761u >> 20; while (table[h & 4095] && table[h & 4095] != q) h++; r += h; }`,
	`for (int i = 0; i < N; i++) { long o; do o = __atomic_load_n(&me->x, 0); while (!__atomic_compare_exchange_n(&me->x, &o, o + K, 0, 5, 5)); }`,
	`for (int i = 0; i < N; i++) { int z = 0; while (!__atomic_compare_exchange_n(&me->lock, &z, 1, 0, 5, 5)) z = 0; r++; __atomic_store_n(&me->lock, 0, 3); }`,
	`for (int i = 0; i < N; i++) { while (__atomic_exchange_n(&me->lock, 1, 5)) while (__atomic_load_n(&me->lock, 0)) __builtin_ia32_pause(); __atomic_store_n(&me->lock, 0, 3); }`,
	`for (int i = 0; i < N; i++) if (*(volatile int *)&LIM.flag) break;`,
	`{ int i = 0; do { if (*(volatile int *)&LIM.cancel) break; } while (++i < N); r += i; }`,
	`{ int budget = N; while (*(volatile int *)&LIM.flag == 0 && --budget) ; r += budget; }`,
	`{ volatile int budget = N; while (LIM.flag == 0 && budget > 0) budget--; }`,
	`for (int i = 0; i < N; i++) __builtin_ia32_pause();`,
	`for (int i = N; i > 0; i -= 3) { __asm__ volatile("" ::: "memory"); if (LIM.cancel | LIM.flag) return -1; }`,
	`for (int i = 0; i < *(volatile int *)&me->n; i++) __asm__ volatile("" ::: "memory");`,
	`for (int i = 0; i < N; i++) { __asm__ volatile("" ::: "memory"); if (i > LIM.max) break; if (LIM.level > LIM.max) return -2; }`,
	`for (int q = 0; q < N / 16; q++) { unsigned long x = q * 0x9e3779b97f4a7c15ul; while (x) { x &= x - 1; r++; } }`,
	`for (int q = 0; q < N / 16; q++) { long x = q + 27; while (x != 1 && x < 1 << 20) { x = x & 1 ? 3 * x + 1 : x / 2; if (LIM.cancel) break; } r += x; }`,
	`for (int q = 0; q < N / 8; q++) { int lo = 0, hi = 4096; while (lo < hi) { int m = (lo + hi) / 2; if (a[m] < q) lo = m + 1; else hi = m; } r += lo; }`,
	`for (int q = 0; q < N / 8; q++) { int i = 0; while (!(LIM.key >> i & 1)) i++; r += i; }`,
	`for (int q = 0; q < N / 16; q++) { const char *s = text + (q & 63), *e = s; while (*e && *e != '|') e++; r += e - s; }`,
	`for (int q = 0; q < N / 16; q++) { unsigned x = q + 7, y = K + 13; while (y) { unsigned z = x % y; x = y; y = z; } r += x; }`,
	`{ int i = 0, j = N; while (i < j) { i++; j--; if (LIM.flag) break; } r += i; }`,
	`for (int i = 0; i < N; i++) { if (i % 64 == 0) __asm__ volatile("nop"); if (*(volatile int *)&LIM.cancel) break; }`,
	`{ long serving = *(volatile long *)&me->x; for (int i = 0; i < N; i++) while (*(volatile long *)&me->x != serving) ; }`,
	`for (int q = 0; q < N / 256; q++) { int i; for (i = 0; i < 64; i++) if (*(volatile int *)&flags[i]) break; r += i; }`,
	`for (int i = 0; i < N; i++) { switch (LIM.level) { case 1: r++; break; case 2: r += 2; break; case 3: return -1; case 4: r--; break; case 5: r ^= 5; } }`,
	`for (int i = 0, d = 1; i < N; i += d) { for (int j = 0; j < d; j++) __builtin_ia32_pause(); if (d < 64) d *= 2; if (*(volatile int *)&LIM.cancel) break; }`,
}

const oraclePrologue = `#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
struct { int n, max, level, cancel, flag; long key; } LIM = { 4096, 1 << 20, 2, 0, 0, 1L << 40 };
static int a[4097], table[4096], flags[64]; static char text[4096];
static struct node { struct node *next; int key; } nodes[1024];
static struct own { int lock, n; long x; char pad[112]; } own[64];
static long took[64], sum[64]; static int P; static pthread_barrier_t bar;
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
static long __attribute__((noinline)) work(int id, struct own *me) {
	long r = id; int N = me->n;
`

const oracleEpilogue = `	return r;
}
static void fill(void) {
	for (int i = 0; i < 4096; i++) { a[i] = i; text[i] = i % 61 == 60 ? '|' : 'a'; table[i] = i % 7 ? i * 3 + 1 : 0; }
	for (int i = 0; i < 1024; i++) { nodes[i].next = i % 97 == 96 ? 0 : &nodes[(i + 1) & 1023]; nodes[i].key = i; }
	for (int i = 0; i < 64; i++) own[i].n = ROUNDS * (i + 1);
}
static void *worker(void *p) {
	int id = (int)(long)p;
	if (P > 1) pthread_barrier_wait(&bar);
	long t = now(); sum[id] = work(id, &own[id]); took[id] = now() - t;
	if (P > 1) pthread_barrier_wait(&bar);
	return 0;
}
int main(int c, char **v) {
	fill();
	P = atoi(v[1]);
	if (P == 0) for (long i = 0; i < 6; i++) worker((void *)i);
	else {
		pthread_t t[64];
		pthread_barrier_init(&bar, 0, P);
		for (long i = 0; i < P; i++) pthread_create(&t[i], 0, worker, (void *)i);
		for (long i = 0; i < P; i++) pthread_join(t[i], 0);
	}
	for (int i = 0; i < 6; i++) printf("%d %ld %ld\n", i, took[i], sum[i]);
}
`

// oracleSource is the program of a seed: eight loops. The first programs hold all shapes in turn.
func oracleSource(seed int64) string {
	rng := rand.New(rand.NewSource(seed))
	var b strings.Builder
	b.WriteString(oraclePrologue)
	for i := range 8 {
		k := rng.Intn(len(shapes))
		if n := int(seed)*8 + i; n < len(shapes) {
			k = n
		}
		fmt.Fprintf(&b, "\t%s\n", strings.ReplaceAll(shapes[k], "K", fmt.Sprint(rng.Intn(4000))))
	}
	return b.String() + strings.ReplaceAll(oracleEpilogue, "ROUNDS", fmt.Sprint(2000+rng.Intn(20000)))
}

// oracleCompilers are tried in turn.
var oracleCompilers = []string{"gcc -O0", "gcc -O1", "gcc -O2", "gcc -O3", "clang -O0", "clang -O1", "clang -O2", "clang -O3"}

func TestNoWaitIsInvented(t *testing.T) {
	seeds := 8
	if os.Getenv("LIME_LONG") != "" {
		seeds = 1000
	}
	for seed := range seeds {
		for k, cc := range oracleCompilers {
			if seeds == 8 && (seed+k)%4 != 0 { // two compilers a program
				continue
			}
			t.Run(fmt.Sprintf("%d/%s", seed, strings.ReplaceAll(cc, " ", "")), func(t *testing.T) {
				t.Parallel()
				workAsAlone(t, int64(seed), cc)
			})
		}
	}
}

// workAsAlone holds the threads of a program to what each of them does alone.
func workAsAlone(t *testing.T, seed int64, cc string) {
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "oracle.c"), filepath.Join(dir, "oracle")
	if err := os.WriteFile(src, []byte(oracleSource(seed)), 0o600); err != nil {
		t.Fatal(err)
	}
	words := append(strings.Fields(cc), "-g", "-w", "-pthread", "-o", bin, src)
	if text, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cc, err, text)
	}
	_, alone := measured(t, bin, "0")
	path, beside := measured(t, bin, "6")
	if alone != beside {
		t.Errorf("thread, time, result of each alone:\n%sbeside one another:\n%s%s", alone, beside, oracleSource(seed))
	}
	p, err := profile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for id := range p.Tables().Sections {
		noLockWaits(t, p, profile.SectionID(id))
	}
}

// measured simulates the program on 8 cores, and returns the profile and what it printed.
func measured(t *testing.T, bin, arg string) (path, printed string) {
	t.Helper()
	path, status, said, out := simulated(t, 8, bin, arg)
	if status != 0 {
		t.Fatalf("%s %s: status %d: %s", bin, arg, status, said)
	}
	return path, out
}
