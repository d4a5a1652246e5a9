/*
 * rangescan: band join of two sorted columns. Every thread answers the same number
 * of range queries by scanning from the range's start; the limit of time that a
 * query has is tested at every row and never reached. Recent ranges, which come
 * last, are much wider.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct limits {
	int cancel, rows;
};

struct query {
	int from, want;
};

static int nthreads = 16, n = 1 << 16, nq = 1 << 16;
static int *a;
static struct query *q;
static struct limits limits;
static long answer[64 * 8];
static pthread_barrier_t bar;

static int cmp(const void *x, const void *y)
{
	int p = *(const int *)x, r = *(const int *)y;
	return (p > r) - (p < r);
}

static void load(void)
{
	unsigned s = 67;
	a = malloc(n * sizeof *a);
	q = malloc(nq * sizeof *q);
	for (int i = 0; i < n; i++) {
		s = s * 1664525 + 1013904223;
		a[i] = s >> 4;
	}
	qsort(a, n, sizeof *a, cmp);
	for (int i = 0; i < nq; i++) {
		s = s * 1664525 + 1013904223;
		int width = i < nq - nq / 32 ? 24 : 800;
		q[i].from = (s >> 6) % (n - width);
		q[i].want = a[q[i].from + width];
	}
}

static int scan(int i, int want)
{
	int from = i;
	while (i < n && a[i] < want) { /* CAUSE */
		if (limits.cancel) /* CAUSE */
			return -1;
		i++; /* CAUSE */
	}
	return i - from;
}

static long run(int lo, int hi)
{
	long sum = 0;
	for (int k = lo; k < hi; k++) {
		int rows = scan(q[k].from, q[k].want);
		if (rows < 0)
			return -1;
		sum += rows;
	}
	return sum;
}

static void *worker(void *arg)
{
	long me = (long)arg;
	answer[me * 8] = run(nq / nthreads * me, nq / nthreads * (me + 1));
	pthread_barrier_wait(&bar); /* END */
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	long sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		nq = 1 << atoi(argv[2]);
	limits.cancel = argc > 3;
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < nthreads; i++)
		sum += answer[i * 8];
	printf("%ld rows\n", sum);
	return 0;
}
