#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static int leaves;
static double leaf(int at) {
	int n = at == leaves / 3 ? 250000 : 4000;
	double s = 0;
	for (int k = 1; k < n; k++) /* CAUSE */
		s += 1.0 / (k + at);
	return s;
}
static double sum(int lo, int n) {
	if (n == 1)
		return leaf(lo);
	double left, right;
#pragma omp task shared(left) /* TASK */
	left = sum(lo, n / 2);
#pragma omp task shared(right) /* TASK */
	right = sum(lo + n / 2, n - n / 2);
#pragma omp taskwait
	return left + right;
}
int main(int argc, char **argv) {
	int P = argc > 1 ? atoi(argv[1]) : 8;
	double found = 0;
	omp_set_num_threads(P);
	leaves = 8 * P;
#pragma omp parallel /* END */
#pragma omp single
	found = sum(0, leaves);
	printf("%g\n", found);
}
