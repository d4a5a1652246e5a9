#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static double out[256];
static void job(int t, int n) { double s = 0; for (int k = 0; k < n; k++) /* CAUSE */ s += 1.0 / (k + t + 1); out[t] = s; }
int main(int argc, char **argv) {
	int P = argc > 1 ? atoi(argv[1]) : 8;
	omp_set_num_threads(P);
#pragma omp parallel /* END */
#pragma omp single
	for (int t = 0; t < 2 * P; t++) {
#pragma omp task firstprivate(t)
		job(t, t == 2 * P - 1 ? 300000 : 15000);
	}
	printf("%g\n", out[2]);
}
