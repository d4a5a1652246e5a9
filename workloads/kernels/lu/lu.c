/*
 * lu: blocked LU factorisation without pivoting. Every thread owns a contiguous
 * panel of block columns, so that as the factorisation moves right the owners of
 * the left have fewer and fewer blocks left to update.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define B 4

static int nthreads = 16, nb = 64;
static double *a;
static pthread_barrier_t bar;

static double *block(int i, int j)
{
	return a + ((size_t)i * nb + j) * B * B;
}

static void load(void)
{
	unsigned s = 21;
	a = malloc(sizeof(double) * nb * nb * B * B);
	for (int i = 0; i < nb * nb * B * B; i++) {
		s = s * 1664525 + 1013904223;
		a[i] = (double)(s >> 8) / (1 << 24);
	}
	for (int i = 0; i < nb; i++)
		for (int k = 0; k < B; k++)
			block(i, i)[k * B + k] += nb * B;
}

static void factor(double *d)
{
	for (int k = 0; k < B; k++)
		for (int i = k + 1; i < B; i++) {
			d[i * B + k] /= d[k * B + k];
			for (int j = k + 1; j < B; j++)
				d[i * B + j] -= d[i * B + k] * d[k * B + j];
		}
}

static void lower(const double *d, double *x)
{
	for (int k = 0; k < B; k++)
		for (int i = k + 1; i < B; i++)
			for (int j = 0; j < B; j++)
				x[i * B + j] -= d[i * B + k] * x[k * B + j];
}

static void upper(const double *d, double *x)
{
	for (int i = 0; i < B; i++)
		for (int k = 0; k < B; k++) {
			x[i * B + k] /= d[k * B + k];
			for (int j = k + 1; j < B; j++)
				x[i * B + j] -= x[i * B + k] * d[k * B + j];
		}
}

static void update(double *c, const double *l, const double *u)
{
	for (int i = 0; i < B; i++)
		for (int k = 0; k < B; k++)
			for (int j = 0; j < B; j++)
				c[i * B + j] -= l[i * B + k] * u[k * B + j];
}

static void *worker(void *arg)
{
	long me = (long)arg;
	int lo = nb * me / nthreads, hi = nb * (me + 1) / nthreads;
	double d[B * B];
	for (int k = 0; k < nb; k++) {
		memcpy(d, block(k, k), sizeof d);
		factor(d);
		for (int i = k + 1 + me; i < nb; i += nthreads)
			upper(d, block(i, k));
		pthread_barrier_wait(&bar);
		for (int j = lo > k ? lo : k + 1; j < hi; j++) { /* CAUSE */
			lower(d, block(k, j));
			for (int i = k + 1; i < nb; i++)
				update(block(i, j), block(i, k), block(k, j));
		}
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	double sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		nb = atoi(argv[2]);
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 1; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker((void *)0);
	for (int i = 1; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < nb; i++)
		sum += block(i, i)[0];
	printf("trace of corners %.6f\n", sum);
	return 0;
}
