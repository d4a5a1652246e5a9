/* Few sections for many threads: most have nothing to do. */
#include <stdio.h>
#include <stdlib.h>

static double out[4];

__attribute__((noinline)) static double grind(double x, int n) {
	for (int i = 0; i < n; i++) /* CAUSE */
		x = x * 0.999 + i;
	return x;
}

int main(int argc, char **argv) {
	int p = argc > 1 ? atoi(argv[1]) : 8;
	for (int round = 0; round < 3; round++) { /* END */
#pragma omp parallel sections num_threads(p) /* END CAUSE */
		{
#pragma omp section
			out[0] = grind(out[0], 40000); /* CAUSE */
#pragma omp section
			out[1] = grind(out[1], 20000); /* CAUSE */
#pragma omp section
			out[2] = grind(out[2], 10000); /* CAUSE */
		}
	}
	printf("%g\n", out[0]);
	return 0;
}
