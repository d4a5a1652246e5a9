#include <omp.h>
static double cell[64];

__attribute__((noinline)) static void work(long id, int n) {
	double x = cell[id];
	for (int i = 0; i < n; i++)
		x = x * 0.5 + i;
	cell[id] = x;
}

int main(void) {
	omp_set_max_active_levels(2);
	for (volatile int k = 0; k < 2; k++) { /* END */
#pragma omp parallel num_threads(2) /* END */
		{
			int outer = omp_get_thread_num();
#pragma omp parallel num_threads(4) /* END2 */
			work(8 * outer + omp_get_thread_num(), 10000 * (1 + omp_get_thread_num()) * (1 + outer));
		}
	}
	return 0;
}
