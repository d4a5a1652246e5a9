/* Two parallel regions of one function, in a loop: optimised, their calls of the runtime have one and the same line. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static double a[1024], b[1024];

int main(int argc, char **argv) {
	int p = argc > 1 ? atoi(argv[1]) : 8;
	for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(p)
		{
			int id = omp_get_thread_num();
			for (int k = 0; k < 8000; k++)
				a[id] = a[id] * 0.99 + k;
		}
#pragma omp parallel num_threads(p) /* END */
		{
			int id = omp_get_thread_num();
			for (int k = 0; k < 4000 + 2000 * (id % 3); k++) /* CAUSE */
				b[id] = b[id] * 0.99 + k;
		}
	}
	printf("%g\n", a[0] + b[0]);
	return 0;
}
