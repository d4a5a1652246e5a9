#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static double out[64];
static double grind(int n) { double s = 0; for (int k = 0; k < n; k++) /* CAUSE */ s += 1.0 / (k + 1); return s; }
int main(int argc, char **argv) {
	int P = argc > 1 ? atoi(argv[1]) : 8;
	omp_set_max_active_levels(2);
	int outer = P / 4;
#pragma omp parallel num_threads(outer)
	{
		int o = omp_get_thread_num();
#pragma omp parallel num_threads(4) /* END */
		{
			int i = omp_get_thread_num();
			out[o * 4 + i] = grind(i == 2 ? 20000 : 4000);
		} /* END */
	}
	printf("%g\n", out[2]);
}
