/* Equal work, but the results are put together in a long critical section. */
#include <stdio.h>
#include <stdlib.h>

static double total;

__attribute__((noinline)) static double grind(double x, int n) {
	for (int i = 0; i < n; i++)
		x = x * 0.999 + i;
	return x;
}

int main(int argc, char **argv) {
	int p = argc > 1 ? atoi(argv[1]) : 8;
	for (int round = 0; round < 3; round++) { /* END */
#pragma omp parallel num_threads(p) /* END */
		{
			double x = grind(round, 5000);
#pragma omp critical /* CAUSE */
			total = grind(total + x, 3000);
		}
	}
	printf("%g\n", total);
	return 0;
}
