/*
 * pagerank: personalised rank, one seed after another, the same number of seeds
 * for every thread, each on a vector of its own. Seeds are sorted by their degree;
 * from the poorly linked ones the iteration takes many more rounds to settle.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 2048
#define SEEDS 64
#define MAXROUNDS 60

static int nthreads = 16, seeds = SEEDS;
static int deg[N], *adj[N];
static double damp[SEEDS * 4];
static int rounds[SEEDS * 4];

static void load(void)
{
	unsigned s = 71;
	for (int v = 0; v < N; v++) {
		deg[v] = 8;
		adj[v] = malloc(deg[v] * sizeof(int));
		for (int k = 0; k < deg[v]; k++) {
			s = s * 1664525 + 1013904223;
			adj[v][k] = (s >> 8) % N;
		}
	}
	/* the chance to follow a link from this seed's community */
	for (int i = 0; i < seeds; i++)
		damp[i] = i < seeds * 31 / 32 ? 0.15 : 0.9;
}

static void spread(const double *r, double *q, double d)
{
	for (int v = 0; v < N; v++) {
		double sum = 0;
		for (int k = 0; k < 8; k++)
			sum += r[adj[v][k]];
		q[v] = d * sum / 8;
	}
}

static double change(const double *a, const double *b)
{
	double sum = 0;
	for (int v = 0; v < N; v++)
		sum += fabs(a[v] - b[v]);
	return sum;
}

static int rank_of(int seed, double *r, double *q)
{
	int it = 0;
	double delta = 1;
	memset(r, 0, N * sizeof *r);
	r[seed * 7 % N] = 1;
	while (delta > 1e-4 && it < MAXROUNDS) { /* CAUSE */
		spread(r, q, damp[seed]);
		q[seed * 7 % N] += 1 - damp[seed];
		delta = change(r, q);
		double *t = r;
		r = q;
		q = t;
		it++;
	}
	return it;
}

static void *worker(void *arg)
{
	long me = (long)arg;
	double *r = malloc(N * sizeof *r), *q = malloc(N * sizeof *q);
	for (int s = seeds / nthreads * me; s < seeds / nthreads * (me + 1); s++)
		rounds[s] = rank_of(s, r, q);
	free(r);
	free(q);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	int sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2 && atoi(argv[2]) <= SEEDS * 4)
		seeds = atoi(argv[2]);
	load();
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL); /* END */
	for (int i = 0; i < seeds; i++)
		sum += rounds[i];
	printf("%d seeds, %d rounds\n", seeds, sum);
	return 0;
}
