/*
 * samplesort: keys are scattered to one bucket per splitter, and every thread
 * sorts its buckets with qsort. The splitters come from the first keys of the
 * input, whose distribution is not that of the rest: the last bucket of all is
 * far too large.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 64

static int nthreads = 16, n = 1 << 16;
static int *key, *out;
static int start[BUCKETS + 1];
static pthread_barrier_t bar;

static int cmp(const void *x, const void *y)
{
	int p = *(const int *)x, r = *(const int *)y;
	return (p > r) - (p < r);
}

static int bucket_of(int k)
{
	int b = k >> 20;
	return b < BUCKETS ? b : BUCKETS - 1;
}

/* Reads the keys and scatters them, serially. */
static void load(void)
{
	unsigned s = 53;
	int at[BUCKETS + 1] = {0};
	key = malloc(n * sizeof *key);
	out = malloc(n * sizeof *out);
	for (int i = 0; i < n; i++) {
		s = s * 1664525 + 1013904223;
		key[i] = i % 10 < 9 ? s >> 6 : s >> 1;
		at[bucket_of(key[i]) + 1]++;
	}
	for (int b = 0; b < BUCKETS; b++)
		at[b + 1] += at[b];
	memcpy(start, at, sizeof start);
	for (int i = 0; i < n; i++)
		out[at[bucket_of(key[i])]++] = key[i];
}

static void *worker(void *arg)
{
	long me = (long)arg;
	for (int b = BUCKETS / nthreads * me; b < BUCKETS / nthreads * (me + 1); b++)
		qsort(out + start[b], start[b + 1] - start[b], sizeof *out, cmp); /* CAUSE */
	pthread_barrier_wait(&bar); /* END */
	return NULL;
}

static int sorted(void)
{
	for (int i = 1; i < n; i++)
		if (out[i - 1] > out[i])
			return 0;
	return 1;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		n = 1 << atoi(argv[2]);
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 1; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker((void *)0);
	for (int i = 1; i < nthreads; i++)
		pthread_join(t[i], NULL);
	printf("%s, median %d\n", sorted() ? "sorted" : "NOT SORTED", out[n / 2]);
	return !sorted();
}
