// Teams of threads of an OpenMP runtime.
#include <omp.h>
#include <stdio.h>

int main(void) {
	double s = 0;
	int n = 0, order[40] = {0};
#pragma omp parallel num_threads(4) reduction(+ : s, n)
	{
		n += 1;
#pragma omp for schedule(dynamic, 10)
		for (int i = 0; i < 10000; i++)
			s += 1.0 / (1 + i % 10);
#pragma omp barrier
#pragma omp single
		order[0]++;
#pragma omp critical
		order[1]++;
#pragma omp for ordered
		for (int i = 0; i < 38; i++)
#pragma omp ordered
			order[2 + i] = i;
	}
#pragma omp parallel num_threads(3)
#pragma omp single
	for (int i = 0; i < 10; i++)
#pragma omp task
		__sync_fetch_and_add(&n, 1);
	printf("%d %.3f %d %d %d\n", n, s, order[0], order[1], order[39]);
	return 0;
}
