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
	"lime/internal/testenv"
)

// The oracle against waits that are none. A made program's threads run loops of many shapes over
// memory that nobody changes, and measure the simulated time that this takes them. Beside one
// another they must take exactly as long as each takes alone, in a process of one thread, where
// nobody can wait; and no lock, wait or deadlock may be reported.

// shapes are loops; N is a number of rounds that differs from thread to thread, K a random
// constant. Each is work: it ends by itself, or would go on for ever.
var shapes = []string{
	`for (int i = LIM.max >> 1; i > LIM.level; i >>= 1) { r += i; if (LIM.flag) return -1; }`,
	`for (int q = 0; q < N; q++) for (int i = LIM.max >> 1; i > LIM.level; i >>= 1) if (LIM.flag)
		return -1;`,
	`{ int i = 0; while (i < LIM.n && a[i] < N % 4000) { if (LIM.cancel) return -1; i++; } r += i; }`,
	`for (int q = 0; q < N / 64; q++) { int i = 0; while (i < LIM.n && a[i] < K) { if (LIM.cancel)
		return -1; i++; } r += i; }`,
	`for (int q = 0; q < N / 32; q++) { int k = q & 15; while (text[k] != '|') k++; r += k; }`,
	`{ struct node *p = &nodes[K & 63]; for (int i = 0; i < N; i++) { while (p->next && p->key != N
		% 1000) { p = p->next; if (LIM.cancel) break; } r += p->key; p = &nodes[i & 255]; } }`,
	`for (int q = 0; q < N / 8; q++) { unsigned h = q * 2654435761u >> 20; while (table[h & 4095] &&
		table[h & 4095] != q) h++; r += h; }`,
	`for (int i = 0; i < N; i++) { long o; do o = __atomic_load_n(&me->x, 0); while
		(!__atomic_compare_exchange_n(&me->x, &o, o + K, 0, 5, 5)); }`,
	`for (int i = 0; i < N; i++) { int z = 0; while (!__atomic_compare_exchange_n(&me->lock, &z, 1,
		0, 5, 5)) z = 0; r++; __atomic_store_n(&me->lock, 0, 3); }`,
	`for (int i = 0; i < N; i++) { while (__atomic_exchange_n(&me->lock, 1, 5)) while
		(__atomic_load_n(&me->lock, 0)) __builtin_ia32_pause(); __atomic_store_n(&me->lock, 0, 3);
		}`,
	`for (int i = 0; i < N; i++) if (*(volatile int *)&LIM.flag) break;`,
	`{ int i = 0; do { if (*(volatile int *)&LIM.cancel) break; } while (++i < N); r += i; }`,
	`{ int budget = N; while (*(volatile int *)&LIM.flag == 0 && --budget) ; r += budget; }`,
	`{ volatile int budget = N; while (LIM.flag == 0 && budget > 0) budget--; }`,
	`for (int i = 0; i < N; i++) __builtin_ia32_pause();`,
	`for (int i = N; i > 0; i -= 3) { __asm__ volatile("" ::: "memory"); if (LIM.cancel | LIM.flag)
		return -1; }`,
	`for (int i = 0; i < *(volatile int *)&me->n; i++) __asm__ volatile("" ::: "memory");`,
	`for (int i = 0; i < N; i++) { __asm__ volatile("" ::: "memory"); if (i > LIM.max) break; if
		(LIM.level > LIM.max) return -2; }`,
	`for (int q = 0; q < N / 16; q++) { unsigned long x = q * 0x9e3779b97f4a7c15ul; while (x) { x &=
		x - 1; r++; } }`,
	`for (int q = 0; q < N / 16; q++) { long x = q + 27; while (x != 1 && x < 1 << 20) { x = x & 1 ?
		3 * x + 1 : x / 2; if (LIM.cancel) break; } r += x; }`,
	`for (int q = 0; q < N / 8; q++) { int lo = 0, hi = 4096; while (lo < hi) { int m = (lo + hi) /
		2; if (a[m] < q) lo = m + 1; else hi = m; } r += lo; }`,
	`for (int q = 0; q < N / 8; q++) { int i = 0; while (!(LIM.key >> i & 1)) i++; r += i; }`,
	`for (int q = 0; q < N / 16; q++) { const char *s = text + (q & 63), *e = s; while (*e && *e !=
		'|') e++; r += e - s; }`,
	`for (int q = 0; q < N / 16; q++) { unsigned x = q + 7, y = K + 13; while (y) { unsigned z = x %
		y; x = y; y = z; } r += x; }`,
	`{ int i = 0, j = N; while (i < j) { i++; j--; if (LIM.flag) break; } r += i; }`,
	`for (int i = 0; i < N; i++) { if (i % 64 == 0) __asm__ volatile("nop"); if (*(volatile int
		*)&LIM.cancel) break; }`,
	`{ long serving = *(volatile long *)&me->x; for (int i = 0; i < N; i++) while (*(volatile long
		*)&me->x != serving) ; }`,
	`for (int q = 0; q < N / 256; q++) { int i; for (i = 0; i < 64; i++) if (*(volatile int
		*)&flags[i]) break; r += i; }`,
	`for (int i = 0; i < N; i++) { switch (LIM.level) { case 1: r++; break; case 2: r += 2; break;
		case 3: return -1; case 4: r--; break; case 5: r ^= 5; } }`,
	`for (int i = 0, d = 1; i < N; i += d) { for (int j = 0; j < d; j++) __builtin_ia32_pause(); if
		(d < 64) d *= 2; if (*(volatile int *)&LIM.cancel) break; }`,
	// Something every so many rounds, and a test that hangs on memory.
	`for (int i = 0; i < N; i++) { if (i % 200 == 199) __builtin_ia32_pause(); if (*(volatile int
		*)&LIM.cancel) break; }`,
	`{ int k = 0; for (int i = 0; i < N; i++) { if (++k == 500) { k = 0; r++; } if (*(volatile int
		*)&LIM.flag) break; } }`,
	`for (int i = 0, d = 1; i < N; i += d) { int j = 0; while (j < d && !*(volatile int *)&LIM.flag)
		j++; d = d < N / 9 ? 2 * d : d; r ^= d; }`,
	// The C library's loops, repeated string instructions, loops of one instruction, calls.
	`for (int q = 0; q < N / 8; q++) { char *s = memchr(text + (q & 255), '|', 3000); r += s - text;
		}`,
	`for (int q = 0; q < N / 8; q++) r += strlen(text + 4095 - (q * K & 1023));`,
	`for (int q = 0; q < N / 16; q++) { char s[700]; memset(s, q, q % 700); memcpy(s, text + (q & 63), N % 600);
		memmove(s + 1, s, q % 500); r += s[q & 63]; }`,
	`for (int q = 0; q < N / 64; q++) { int s[200]; for (int i = 0; i < 200; i++) s[i] = (i * K ^ q) & 255;
		qsort(s, 8 + q % 190, sizeof *s, less); r += s[7]; }`,
	`for (int q = 0; q < N / 8; q++) { char *s = text; long n = q % 100 + 61;
		__asm__ volatile("repne scasb" : "+D"(s), "+c"(n) : "a"('|') : "cc", "memory"); r += n; }`,
	`for (int q = 0; q < N / 8; q++) { char s[300], *to = s; const char *from = text; long n = q % 300;
		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) :: "memory"); r += to - s; }`,
	`{ long n = N; __asm__ volatile("1: loop 1b" : "+c"(n)); r += n; }`,
	`for (int q = 0; q < N / 256; q++) r += deep(3 + (q + K) % 9);`,
	`{ jmp_buf b; volatile int q = 0; setjmp(b); if (++q < N / 4) longjmp(b, q); r += q; }`,
	`for (double x = N, y = 1; x > 1e-3; x *= 0.97) { y = y * x + 1; if (LIM.cancel) break; r += y >
		0; }`,
	`for (int q = 0; q < N / 8; q++) { static long (*const f[])(long) = { labs, deep, labs, nodes_of };
		r += f[(q ^ K) & 3](q & 7); }`,
	`{ char s[40]; for (int q = 0; q < N / 16; q++) { s[0] = '1' + q % 9; s[1 + q % 9] = 0;
		for (int i = 1; i < 1 + q % 9; i++) s[i] = '0' + i;
		r += strtol(s, 0, 10) + (strcmp(s, text) < 0); } }`,
}

const oraclePrologue = `#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct { int n, max, level, cancel, flag; long key; } LIM = { 4096, 1 << 20, 2, 0, 0, 1L << 40 };
static int a[4097], table[4096], flags[64]; static char text[4096];
static struct node { struct node *next; int key; } nodes[1024];
static struct own { int lock, n; long x; char pad[112]; } own[64];
static long took[64], sum[64]; static int P, meet; static pthread_barrier_t bar;
static int less(const void *p, const void *q) { return *(const int *)p < *(const int *)q ? -1 : 1; }
static long __attribute__((noinline)) deep(long n) { return n < 2 ? n : deep(n - 1) ^ deep(n - 2); }
static long nodes_of(long n) {
	long k = 0; for (struct node *p = &nodes[n]; p; p = p->next) k++; return k;
}
long __attribute__((noinline)) work(int id, struct own *me) {
	long r = id; int N = me->n;
`

// oracleEpilogue measures a call by the time stamp counter, which counts the instructions of the model
// without a machine. The call has a page of the stack for itself: what functions that copy memory do
// depends on how it is aligned.
const oracleEpilogue = `	return r;
}
long measure(int id, struct own *me, long *took);
__asm__(".text\n.globl measure, oracle_begin, oracle_end\n.type measure, @function\nmeasure:\n.cfi_startproc\n"
	"push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
	"push %rbx\npush %r12\nand $-4096, %rsp\nmov %rdx, %rbx\n"
	"rdtsc\nshl $32, %rdx\nor %rdx, %rax\nmov %rax, %r12\n"
	"oracle_begin: nop\ncall work\noracle_end: nop\n"
	"mov %rax, %rcx\nrdtsc\nshl $32, %rdx\nor %rdx, %rax\n"
	"sub %r12, %rax\nmov %rax, (%rbx)\nmov %rcx, %rax\n"
	"lea -16(%rbp), %rsp\npop %r12\npop %rbx\nleave\n.cfi_def_cfa %rsp, 8\nret\n"
	".cfi_endproc\n.size measure, .-measure\n");
static void fill(void) {
	for (int i = 0; i < 4096; i++) { a[i] = i; text[i] = i % 61 == 60 ? '|' : 'a'; table[i] = i % 7 ? i * 3 + 1 : 0; }
	text[4095] = 0;
	for (int i = 0; i < 1024; i++) { nodes[i].next = i % 97 == 96 ? 0 : &nodes[(i + 1) & 1023]; nodes[i].key = i; }
	for (int i = 0; i < 64; i++) own[i].n = ROUNDS * (i + 1);
}
static void *worker(void *p) {
	int id = (int)(long)p;
	if (meet) pthread_barrier_wait(&bar);
	sum[id] = measure(id, &own[id], &took[id]);
	if (meet) pthread_barrier_wait(&bar);
	return 0;
}
int main(int c, char **v) {
	fill();
	P = atoi(v[1]); meet = P > 1 && c < 3;
	if (P == 0) for (long i = 0; i < 6; i++) worker((void *)i);
	else {
		pthread_t t[64];
		pthread_barrier_init(&bar, 0, P);
		for (long i = 0; i < P; i++) pthread_create(&t[i], 0, worker, (void *)i);
		for (long i = 0; i < P; i++) pthread_join(t[i], 0);
	}
	for (int i = 0; i < 6; i++) printf("%ld %ld\n", took[i], sum[i]);
}
`

// oracleSource is the program of a seed: eight loops. The first programs hold all shapes in turn.
// Thread i has some rounds*(i+1) to go.
func oracleSource(seed int64, rounds int) string {
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
	return b.String() + strings.ReplaceAll(oracleEpilogue, "ROUNDS", fmt.Sprint(rounds+rng.Intn(10*rounds)))
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
	bin := oracleProgram(t, seed, 2000, cc)
	_, alone := measured(t, unnamed, "--", bin, "0")
	path, beside := measured(t, unnamed, "--", bin, "6")
	if alone != beside {
		t.Errorf("thread, time, result of each alone:\n%sbeside one another:\n%s%s", alone, beside, oracleSource(seed, 2000))
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

// oracleProgram builds a program. Symbols are resolved at its start: whoever calls a function first
// would have it looked up.
func oracleProgram(t *testing.T, seed int64, rounds int, cc string) (bin string) {
	t.Helper()
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "oracle.c"), filepath.Join(dir, "oracle")
	if err := os.WriteFile(src, []byte(oracleSource(seed, rounds)), 0o600); err != nil {
		t.Fatal(err)
	}
	words := append(strings.Fields(cc), "-g", "-w", "-pthread", "-Wl,-z,now", "-o", bin, src)
	testenv.Tool(t, words[0])
	if text, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cc, err, text)
	}
	return bin
}

// oracleEnv has the C library choose the same functions whatever processor it is told of: those for
// all x86-64.
func oracleEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "GLIBC_TUNABLES=glibc.cpu.hwcaps=" +
		"-AVX,-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-ERMS,-FSRM,-BMI1,-BMI2,-LZCNT,-MOVBE,-SSSE3,-SSE4_1,-SSE4_2," +
		"-RTM,-AVX_Fast_Unaligned_Load,-Fast_Unaligned_Load,-Fast_Unaligned_Copy,-Fast_Copy_Backward," +
		"-Fast_Rep_String,-Slow_BSF,-Slow_SSE4_2,-Prefer_PMINUB_for_stringop"}
}

// measured simulates the program on 8 cores, and returns the profile and what it printed.
func measured(t *testing.T, args ...string) (path, printed string) {
	t.Helper()
	path, status, said, out := simulatedIn(t, oracleEnv(), 8, args...)
	if status != 0 {
		t.Fatalf("%s: status %d: %s", args, status, said)
	}
	return path, out
}
