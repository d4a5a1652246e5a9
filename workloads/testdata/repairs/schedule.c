// Rows of a triangle are dealt out in blocks: the last thread has the longest ones. Repaired: as
// threads become free.
#include <omp.h>

enum { ROWS = 480 };
static double a[ROWS];

int main(int argc, char **argv)
{
	(void)argv;
	omp_set_num_threads(8);
	omp_set_schedule(argc > 1 ? omp_sched_dynamic : omp_sched_static, 0);
	for (int step = 0; step < 4; step++) {
#pragma omp parallel for schedule(runtime) /* CAUSE */
		for (int i = 0; i < ROWS; i++) { /* CAUSE */
			double s = a[i];
			for (int k = 0; k < i; k++) /* CAUSE */
				s = s * 0.5 + k;
			a[i] = s; /* CAUSE */
		}
	}
	return a[1] > 1e9;
}
