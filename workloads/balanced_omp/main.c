/* A parallel loop without a fault. */
#include <stdio.h>
#include <stdlib.h>

static double x[64000];

int main(int argc, char **argv) {
	int p = argc > 1 ? atoi(argv[1]) : 8;
	for (int round = 0; round < 8; round++) {
#pragma omp parallel for num_threads(p) schedule(static)
		for (int i = 0; i < 64000; i++)
			for (int k = 0; k < 8; k++)
				x[i] = x[i] * 0.5 + k;
	}
	printf("%g\n", x[1]);
	return 0;
}
