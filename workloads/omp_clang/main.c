/* Rows of unequal length under LLVM's OpenMP, with an explicit barrier. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static double y[1024];

int main(int argc, char **argv) {
	int p = argc > 1 ? atoi(argv[1]) : 8;
#pragma omp parallel num_threads(p)
	{
		int id = omp_get_thread_num();
		double s = 0;
		for (int round = 0; round < 4; round++) {
			int n = 2000 + id * 7 % 10 * 2000;
			for (int j = 0; j < n; j++) /* CAUSE */
				s = s * 0.999 + j;
			y[id] = s;
#pragma omp barrier /* END */
		}
	}
	printf("%g\n", y[0]);
	return 0;
}
