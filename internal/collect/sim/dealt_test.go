package sim_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const dealtSource = `#include <omp.h>
#include <stdio.h>
#include <time.h>
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
int main(void) {
	static long done[8]; long worst = 0, piece = 0; volatile long sum = 0;
	omp_set_num_threads(8);
	for (int k = 0; k < 6; k++) {
		#pragma omp parallel
		{
			long r = 0, from = now(), n = 0;
			#pragma omp for schedule(SCHEDULE) nowait
			for (int i = 0; i < 2000; i++) {
				for (int j = 0; j < 100; j++) { r += j ^ i; __asm__ volatile("" : "+r"(r)); }
				n++;
			}
			done[omp_get_thread_num()] = now();
			if (omp_get_thread_num() == 0 && n) piece = (done[0] - from) / n;
			if (r == 1) sum++;
		}
		long least = done[0], most = done[0];
		for (int i = 0; i < 8; i++) { if (done[i] < least) least = done[i]; if (done[i] > most) most = done[i]; }
		if (k && most - least > worst) worst = most - least;
	}
	printf("%ld %ld\n", worst, piece);
}
`

// What is dealt out in small pieces to whoever is free ends for all within a piece or two:
// simulated cores take turns that are longer than that, and nobody gets more for whose turn it is.
func TestDealtWorkIsEven(t *testing.T) {
	for _, schedule := range []string{"dynamic", "monotonic:dynamic", "guided"} {
		for _, cc := range []string{"gcc -O1", "clang -O1"} {
			if schedule == "guided" && strings.HasPrefix(cc, "clang") {
				continue // its pieces are of many sizes, and to be told that nothing is left takes longer than the last
			}
			t.Run(schedule+"/"+strings.ReplaceAll(cc, " ", ""), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				src, bin := filepath.Join(dir, "dealt.c"), filepath.Join(dir, "dealt")
				if err := os.WriteFile(src, []byte(strings.ReplaceAll(dealtSource, "SCHEDULE", schedule)), 0o600); err != nil {
					t.Fatal(err)
				}
				words := append(strings.Fields(cc), "-g", "-w", "-fopenmp", "-o", bin, src)
				if text, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", cc, err, text)
				}
				_, status, said, out := simulated(t, 8, unnamed, "--", bin)
				var worst, piece int64
				if n, err := fmt.Sscan(out, &worst, &piece); status != 0 || n != 2 {
					t.Fatalf("status %d, printed %q, %v: %s", status, out, err, said)
				}
				if worst > 2*piece+1000 { // who comes last is told that nothing is left
					t.Errorf("the last one is done %d instructions behind the first, a piece takes %d", worst, piece)
				}
			})
		}
	}
}
