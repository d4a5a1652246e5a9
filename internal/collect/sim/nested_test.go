package sim_test

import (
	"fmt"
	"testing"
)

const nestedRegions = `#include <omp.h>
#include <stdio.h>
static double out[64];
__attribute__((noinline)) static double work(int k, long n) {
	double x = k;
	for (long i = 0; i < n; i++) x = x * 0.999 + i;
	return x;
}
int main(void) {
	omp_set_max_active_levels(2);
	for (int r = 0; r < 5; r++) {
		#pragma omp parallel num_threads(OUTER)
		{
			int a = omp_get_thread_num();
			#pragma omp parallel num_threads(INNER)
			{
				int b = omp_get_thread_num();
				out[a * 8 + b] += work(b, (b ? 120000 : 20000) * (a + 1));
				#pragma omp barrier
				out[a * 8 + b] += work(b, (b ? 20000 : 80000) * (a + 1));
				#pragma omp single nowait
				for (int k = 0; k < 3; k++) {
					#pragma omp task
					out[32 + a * 8] += work(b, 20000);
				}
			}
		}
	}
	return puts("done") < 0;
}
`

// TestNestedRegions has regions within regions, whose threads have unlike work, a barrier and tasks:
// a part of the outer one is as long as what its thread has done, and what it has waited for within
// it. That does not hold with LLVM's runtime yet: in most runs some 10 to 50 thousand instructions
// are told of no part.
func TestNestedRegions(t *testing.T) {
	for _, width := range [][2]int{{2, 2}, {3, 2}, {2, 3}} {
		t.Run(fmt.Sprintf("%dx%d", width[0], width[1]), func(t *testing.T) {
			bin := compileText(t, nestedRegions, fmt.Sprintf("gcc -O1 -g -w -fopenmp -DOUTER=%d -DINNER=%d", width[0], width[1]))
			t.Run("count", func(t *testing.T) {
				cmd, _ := counting(t, []string{unnamed}, bin)
				if out, err := cmd.CombinedOutput(); err != nil || string(out) != "done\n" {
					t.Fatalf("%v: %s", err, out)
				}
			})
			t.Run("simulate", func(t *testing.T) {
				path, status, said, out := simulated(t, 8, unnamed, "--", bin)
				if status != 0 || out != "done\n" {
					t.Fatalf("status %d, printed %q: %s", status, out, said)
				}
				asLongAsTold(t, path)
			})
		})
	}
}
