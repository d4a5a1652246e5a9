/* A triangular loop under a static schedule. */
#include <stdio.h>
#include <stdlib.h>

#define N 1500
static double x[N], y[N];

int main(int argc, char **argv) {
	int p = argc > 1 ? atoi(argv[1]) : 8;
	for (int i = 0; i < N; i++)
		x[i] = i % 13;
	for (int round = 0; round < 2; round++) { /* END */
#pragma omp parallel for num_threads(p) schedule(static) /* END */
		for (int i = 0; i < N; i++) {
			double s = 0;
			for (int j = i; j < N; j++) /* CAUSE */
				s += x[j] * x[i];
			y[i] += s;
		}
	}
	printf("%g\n", y[3]);
	return 0;
}
