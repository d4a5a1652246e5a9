/* Parallel loops under OpenMP, one with a barrier inside, static and dynamic schedules.
 *     openmp [THREADS] [ROUNDS]        the default runs about a billion instructions */
#include <stdio.h>
#include <stdlib.h>

enum { N = 400000 };
static int threads = 8, rounds = 60;
static double a[N], b[N];

static void sweep(void)
{
#pragma omp parallel num_threads(threads)
	{
#pragma omp for
		for (int i = 1; i < N - 1; i++)
			b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
#pragma omp for schedule(dynamic, 5000)
		for (int i = 1; i < N - 1; i++)
			for (int k = 0; k < i * 8 / N; k++)
				a[i] = a[i] * 0.5 + b[i] * 0.5;
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		threads = atoi(argv[1]);
	if (argc > 2)
		rounds = atoi(argv[2]);
	if (threads < 1 || rounds < 1)
		return 2;
	for (int i = 0; i < N; i++)
		a[i] = i % 97;
	for (int r = 0; r < rounds; r++)
		sweep();
	printf("%f\n", a[N / 2]);
	return 0;
}
