/* Blocked LU factorisation, blocks dealt out in two dimensions.
 *     lu [THREADS] [BLOCKS]        the default runs about a billion instructions */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { B = 16 };
static int threads = 8, blocks = 42;
static double *m;
static pthread_barrier_t barrier;

static double *block(int i, int j) { return m + ((size_t)i * blocks + j) * B * B; }
static int owner(int i, int j) { return (i % 4) * 2 % threads + j % 2; }

static void factor(double *a)
{
	for (int k = 0; k < B; k++)
		for (int i = k + 1; i < B; i++) {
			a[i * B + k] /= a[k * B + k];
			for (int j = k + 1; j < B; j++)
				a[i * B + j] -= a[i * B + k] * a[k * B + j];
		}
}

static void row(const double *d, double *a)
{
	for (int k = 0; k < B; k++)
		for (int i = k + 1; i < B; i++)
			for (int j = 0; j < B; j++)
				a[i * B + j] -= d[i * B + k] * a[k * B + j];
}

static void column(const double *d, double *a)
{
	for (int k = 0; k < B; k++)
		for (int i = 0; i < B; i++) {
			a[i * B + k] /= d[k * B + k];
			for (int j = k + 1; j < B; j++)
				a[i * B + j] -= a[i * B + k] * d[k * B + j];
		}
}

static void update(const double *l, const double *u, double *a)
{
	for (int i = 0; i < B; i++)
		for (int k = 0; k < B; k++)
			for (int j = 0; j < B; j++)
				a[i * B + j] -= l[i * B + k] * u[k * B + j];
}

static void *worker(void *arg)
{
	int me = (int)(long)arg;
	for (int k = 0; k < blocks; k++) {
		if (owner(k, k) == me)
			factor(block(k, k));
		pthread_barrier_wait(&barrier);
		for (int i = k + 1; i < blocks; i++) {
			if (owner(i, k) == me)
				column(block(k, k), block(i, k));
			if (owner(k, i) == me)
				row(block(k, k), block(k, i));
		}
		pthread_barrier_wait(&barrier);
		for (int i = k + 1; i < blocks; i++)
			for (int j = k + 1; j < blocks; j++)
				if (owner(i, j) == me)
					update(block(i, k), block(k, j), block(i, j));
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		threads = atoi(argv[1]);
	if (argc > 2)
		blocks = atoi(argv[2]);
	size_t n = (size_t)blocks * B;
	m = malloc(n * n * sizeof *m);
	for (size_t i = 0; i < n * n; i++)
		m[i] = (double)(i * 7919 % 1000) / 1000;
	for (int i = 0; i < blocks; i++)
		for (int k = 0; k < B; k++)
			block(i, i)[k * B + k] += (double)n;
	pthread_t t[64];
	pthread_barrier_init(&barrier, NULL, (unsigned)threads);
	for (long i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	double sum = 0;
	for (size_t i = 0; i < n * n; i++)
		sum += m[i];
	printf("%.6f\n", sum);
	return 0;
}
