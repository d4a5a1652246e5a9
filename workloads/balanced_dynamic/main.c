#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static double out[8192];
static void item(int i) {
	double s = 0;
	for (int k = 0; k < 500 + i * 7919 % 13 * 25; k++)
		s += 1.0 / (k + i + 1);
	out[i] = s;
}
int main(int argc, char **argv) {
	int P = argc > 1 ? atoi(argv[1]) : 8;
	omp_set_num_threads(P);
#pragma omp parallel for schedule(dynamic, 8)
	for (int i = 0; i < 150 * P; i++)
		item(i);
	printf("%g\n", out[7]);
}
