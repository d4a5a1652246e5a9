/*
 * waternsq: forces between all pairs of molecules, contiguous blocks of
 * molecules per thread. Pair (i, j) is computed by the owner of the lower number,
 * so that the first blocks have more partners than the last.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 2

struct mol {
	double x[3], v[3], f[3];
};

static int nthreads = 16, n = 1024;
static struct mol *m;
static double (*part)[3];
static double pot[64 * 8];
static pthread_barrier_t bar;

static void load(void)
{
	unsigned s = 8;
	m = calloc(n, sizeof *m);
	part = calloc((size_t)n * nthreads, sizeof *part);
	for (int i = 0; i < n; i++)
		for (int d = 0; d < 3; d++) {
			s = s * 1664525 + 1013904223;
			m[i].x[d] = 10.0 * (s >> 8) / (1 << 24);
		}
}

static double interf(double (*f)[3], int lo, int hi)
{
	double e = 0;
	for (int i = lo; i < hi; i++)
		for (int j = i + 1; j < n; j++) { /* CAUSE */
			double d[3], r2 = 0.01;
			for (int k = 0; k < 3; k++) {
				d[k] = m[i].x[k] - m[j].x[k];
				r2 += d[k] * d[k];
			}
			double inv = 1 / r2, s6 = inv * inv * inv;
			e += s6 * (s6 - 1);
			for (int k = 0; k < 3; k++) {
				f[i][k] += s6 * d[k];
				f[j][k] -= s6 * d[k];
			}
		}
	return e;
}

static void *worker(void *arg)
{
	long me = (long)arg;
	int lo = n / nthreads * me, hi = n / nthreads * (me + 1);
	double (*mine)[3] = part + (size_t)n * me;
	for (int s = 0; s < STEPS; s++) {
		memset(mine, 0, n * sizeof *mine);
		pot[me * 8] = interf(mine, lo, hi);
		pthread_barrier_wait(&bar); /* END */
		for (int i = lo; i < hi; i++)
			for (int d = 0; d < 3; d++) {
				double f = 0;
				for (int t = 0; t < nthreads; t++)
					f += part[(size_t)n * t + i][d];
				m[i].v[d] += 1e-6 * f;
				m[i].x[d] += m[i].v[d];
			}
		pthread_barrier_wait(&bar);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	double e = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		n = atoi(argv[2]);
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 1; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker((void *)0);
	for (int i = 1; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < nthreads; i++)
		e += pot[i * 8];
	printf("potential %.4g\n", e);
	return 0;
}
