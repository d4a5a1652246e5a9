#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static int *a;
static long across(const int *x, const int *y, int m) {
	long n = 0;
	for (int k = 0; k < m * m; k++) /* CAUSE */
		n += x[k / m] > y[k % m];
	return n;
}
static long inversions(int lo, int n) {
	if (n <= 32)
		return n > 1 && a[lo] > a[lo + n - 1];
	long left, right;
#pragma omp task shared(left)
	left = inversions(lo, n / 2);
#pragma omp task shared(right)
	right = inversions(lo + n / 2, n / 2);
#pragma omp taskwait
	return left + right + across(a + lo, a + lo + n / 2, n / 2);
}
int main(int argc, char **argv) {
	int P = argc > 1 ? atoi(argv[1]) : 8, n = 512;
	long found = 0;
	omp_set_num_threads(P);
	while (n < 64 * P)
		n *= 2;
	a = malloc(n * sizeof *a);
	for (unsigned i = 0; i < (unsigned)n; i++)
		a[i] = i * 2654435761u >> 8;
#pragma omp parallel /* END */
#pragma omp single
	found = inversions(0, n);
	printf("%ld\n", found);
}
