/*
 * kmeans: Lloyd's algorithm with private sums per thread, which are then reduced
 * cluster by cluster, each cluster by one thread. Points, clusters and sums
 * divide by the threads: balanced. A flag that nobody sets is tested per point.
 */
#include <float.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define K 32
#define DIM 4
#define ROUNDS 4

struct control {
	int cancel, limit;
};

static int nthreads = 16, n = 8192;
static struct control control = {0, 1 << 30};
static float (*point)[DIM], centre[K][DIM];
static float (*sum)[K][DIM];
static int (*members)[K];
static pthread_barrier_t bar;

static void load(void)
{
	unsigned s = 37;
	point = malloc(n * sizeof *point);
	sum = malloc(nthreads * sizeof *sum);
	members = malloc(nthreads * sizeof *members);
	for (int i = 0; i < n; i++)
		for (int d = 0; d < DIM; d++) {
			s = s * 1664525 + 1013904223;
			point[i][d] = (float)(s >> 8) / (1 << 24);
		}
	for (int k = 0; k < K; k++)
		memcpy(centre[k], point[k * 97 % n], sizeof centre[k]);
}

static int nearest(const float *p)
{
	float best = FLT_MAX;
	int at = 0;
	for (int k = 0; k < K; k++) {
		float d2 = 0;
		for (int d = 0; d < DIM; d++)
			d2 += (p[d] - centre[k][d]) * (p[d] - centre[k][d]);
		at = d2 < best ? k : at;
		best = d2 < best ? d2 : best;
	}
	return at;
}

static int assign(long me, int lo, int hi)
{
	memset(sum[me], 0, sizeof *sum);
	memset(members[me], 0, sizeof *members);
	for (int i = lo; i < hi; i++) {
		if (*(volatile int *)&control.cancel)
			return -1;
		int k = nearest(point[i]);
		members[me][k]++;
		for (int d = 0; d < DIM; d++)
			sum[me][k][d] += point[i][d];
	}
	return 0;
}

static void reduce(int k)
{
	int m = 1;
	float s[DIM] = {0};
	for (int t = 0; t < nthreads; t++) {
		m += members[t][k];
		for (int d = 0; d < DIM; d++)
			s[d] += sum[t][k][d];
	}
	for (int d = 0; d < DIM; d++)
		centre[k][d] = s[d] / m;
}

static void *worker(void *arg)
{
	long me = (long)arg;
	for (int r = 0; r < ROUNDS; r++) {
		assign(me, n / nthreads * me, n / nthreads * (me + 1));
		pthread_barrier_wait(&bar); /* END */
		for (int k = me; k < K; k += nthreads)
			reduce(k);
		pthread_barrier_wait(&bar);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	float s = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		n = 1 << atoi(argv[2]);
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int k = 0; k < K; k++)
		s += centre[k][0];
	printf("centres %.5f\n", s);
	return 0;
}
