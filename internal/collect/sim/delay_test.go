package sim_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What threads do while others wait for them: each calls itself, so that the same instructions
// stand at many depths of the stack.
var recursions = []struct{ name, code, call string }{
	{"queens", `static long f(unsigned c, unsigned l, unsigned r, int row, int n) {
		if (row == n) return 1;
		long s = 0; unsigned a = ~(c | l | r) & ((1u << n) - 1);
		while (a) { unsigned b = a & -a; a ^= b; s += f(c | b, (l | b) << 1, (r | b) >> 1, row + 1, n); }
		return s; }`, "f(0, 0, 0, 0, me % 2 ? 7 : 9)"},
	{"fib", `static long f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }`, "f(me % 2 ? 15 : 21)"},
	{"hanoi", `static long f(int n, int a, int b) { if (!n) return 0; int c = 3 - a - b; return f(n - 1, a, c) + 1 + f(n - 1, c, b); }`, "f(me % 2 ? 9 : 14, 0, 1)"},
	{"permutations", `static long f(int *v, int k, int n) { if (k == n) return v[0]; long s = 0;
		for (int i = k; i < n; i++) { int t = v[k]; v[k] = v[i]; v[i] = t; s += f(v, k + 1, n); t = v[k]; v[k] = v[i]; v[i] = t; } return s; }`,
		"f((int[]){1, 2, 3, 4, 5, 6, 7, 8}, 0, me % 2 ? 5 : 7)"},
	{"ackermann", `static long f(long m, long n) { return !m ? n + 1 : !n ? f(m - 1, 1) : f(m - 1, f(m, n - 1)); }`, "f(2, me % 2 ? 30 : 90)"},
	{"sums of a subset", `static int w[20]; static long f(int i, int left) { if (!left) return 1; if (i == 14 || left < 0) return 0;
		return f(i + 1, left - (i * 7 % 11 + 1)) + f(i + 1, left); }`, "f(0, me % 2 ? 12 : 30)"},
}

const recursionSource = `#include <omp.h>
#include <stdio.h>
#include <time.h>
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
CODE
int main(void) {
	long worst = 0, all = 0; volatile long sum = 0;
	omp_set_num_threads(6);
	#pragma omp parallel
	sum += omp_get_thread_num();
	for (int k = 0; k < 6; k++) {
		long took[6] = {0}, most = 0, t = now();
		#pragma omp parallel
		{
			int me = omp_get_thread_num();
			long from = now();
			long r = 0;
			for (int i = 0; i < 4; i++) r += CALL;
			took[me] = now() - from;
			if (r == 12345) sum++;
		}
		t = now() - t;
		for (int i = 0; i < 6; i++) if (took[i] > most) most = took[i];
		worst += most; all += t;
	}
	printf("%ld %ld\n", worst, all);
}
`

// A parallel region takes as long as its slowest thread: those who wait for it, first looking and
// then asleep, change nothing.
func TestWhoWaitsDelaysNobody(t *testing.T) {
	for i, k := range recursions {
		for _, cc := range []string{"gcc -O0", "gcc -O2", "clang -O2"} {
			t.Run(k.name+"/"+strings.ReplaceAll(cc, " ", ""), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				src, bin := filepath.Join(dir, "wait.c"), filepath.Join(dir, fmt.Sprintf("wait%d", i))
				if err := os.WriteFile(src, []byte(strings.NewReplacer("CODE", k.code, "CALL", k.call).Replace(recursionSource)), 0o600); err != nil {
					t.Fatal(err)
				}
				words := append(strings.Fields(cc), "-g", "-w", "-fopenmp", "-o", bin, src)
				if text, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", cc, err, text)
				}
				_, status, said, out := simulated(t, 6, unnamed, "--", bin)
				var worst, all int64
				if n, err := fmt.Sscan(out, &worst, &all); status != 0 || n != 2 {
					t.Fatalf("status %d, printed %q, %v: %s", status, out, err, said)
				}
				const opening = 20_000 // instructions that the runtime takes to open and to end a region
				if all > worst+worst/50+6*opening {
					t.Errorf("the regions take %d, the slowest threads of each %d", all, worst)
				}
			})
		}
	}
}
