/*
 * radix: parallel radix sort. Each pass counts digits per thread, makes the
 * offsets of all threads from the counts, and permutes. The offsets are made by
 * thread 0 alone while the others wait.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BITS 11
#define RADIX (1 << BITS)
#define PASSES 3

static int nthreads = 16, n = 1 << 18;
static uint32_t *from, *to;
static uint32_t (*count)[RADIX];
static pthread_barrier_t bar;

static void load(void)
{
	uint64_t s = 2024;
	from = malloc(n * sizeof *from);
	to = malloc(n * sizeof *to);
	count = malloc(nthreads * sizeof *count);
	for (int i = 0; i < n; i++) {
		s = s * 6364136223846793005ULL + 1442695040888963407ULL;
		from[i] = s >> 32;
	}
}

static void count_digits(long me, int lo, int hi, int shift)
{
	uint32_t *c = count[me];
	memset(c, 0, sizeof *count);
	for (int i = lo; i < hi; i++)
		c[from[i] >> shift & (RADIX - 1)]++;
}

static void make_offsets(void)
{
	uint32_t at = 0;
	for (int d = 0; d < RADIX; d++)
		for (int t = 0; t < nthreads; t++) {
			uint32_t c = count[t][d];
			count[t][d] = at;
			at += c;
		}
}

static void permute(long me, int lo, int hi, int shift)
{
	uint32_t *c = count[me];
	for (int i = lo; i < hi; i++)
		to[c[from[i] >> shift & (RADIX - 1)]++] = from[i];
}

static void *worker(void *arg)
{
	long me = (long)arg;
	int lo = n / nthreads * me, hi = n / nthreads * (me + 1);
	for (int pass = 0; pass < PASSES; pass++) {
		int shift = pass * BITS;
		count_digits(me, lo, hi, shift);
		pthread_barrier_wait(&bar);
		if (me == 0) /* CAUSE */
			make_offsets(); /* CAUSE */
		pthread_barrier_wait(&bar); /* END */
		permute(me, lo, hi, shift);
		pthread_barrier_wait(&bar);
		if (me == 0) {
			uint32_t *t = from;
			from = to;
			to = t;
		}
		pthread_barrier_wait(&bar);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		n = atoi(argv[2]);
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int i = 1; i < n; i++)
		if (from[i - 1] > from[i]) {
			printf("unsorted at %d\n", i);
			return 1;
		}
	printf("%d keys, median %u\n", n, from[n / 2]);
	return 0;
}
