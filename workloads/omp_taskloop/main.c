#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static double a[4096];
static void row(int i) {
	double s = 0;
	for (int k = 0; k < 20 + (i >= 4000) * 3000; k++) /* CAUSE */
		s += 1.0 / (i + k + 1);
	a[i] = s;
}
int main(int argc, char **argv) {
	int P = argc > 1 ? atoi(argv[1]) : 8;
	omp_set_num_threads(P);
	for (int r = 0; r < 3; r++) {
#pragma omp parallel /* END */
#pragma omp single
#pragma omp taskloop num_tasks(2*P)
		for (int i = 0; i < 4096; i++)
			row(i);
	}
	printf("%g\n", a[2]);
}
