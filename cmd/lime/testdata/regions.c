/* OpenMP: loops, reductions, tasks, single, critical. */
#include <omp.h>
#include <stdio.h>

static long fib(int n)
{
	long a, b;
	if (n < 2)
		return n;
	#pragma omp task shared(a) if (n > 8)
	a = fib(n - 1);
	#pragma omp task shared(b) if (n > 8)
	b = fib(n - 2);
	#pragma omp taskwait
	return a + b;
}

int main(void)
{
	long sum = 0, product = 0, f = 0;
	#pragma omp parallel for schedule(dynamic, 3) reduction(+ : sum)
	for (int i = 0; i < 1000; i++)
		sum += i % 7;
	#pragma omp parallel num_threads(4)
	{
		#pragma omp single
		f = fib(14);
		#pragma omp critical
		product += omp_get_num_threads();
	}
	printf("%ld %ld %ld\n", sum, product, f);
	return 0;
}
