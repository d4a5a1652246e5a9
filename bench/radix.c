/* Parallel radix sort: histogram, prefix sums by one thread, permutation.
 *     radix [THREADS] [KEYS IN THOUSANDS] [ROUNDS]   about a billion instructions */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BITS = 8, RADIX = 1 << BITS };
static int threads = 8, rounds = 8;
static size_t n = 2000000;
static unsigned *key, *other;
static size_t (*rank)[RADIX];
static pthread_barrier_t barrier;

static void prefix(void)
{
	size_t at = 0;
	for (int d = 0; d < RADIX; d++)
		for (int t = 0; t < threads; t++) {
			size_t count = rank[t][d];
			rank[t][d] = at;
			at += count;
		}
}

static void *worker(void *arg)
{
	int me = (int)(long)arg;
	size_t lo = n * (size_t)me / (size_t)threads, hi = n * (size_t)(me + 1) / (size_t)threads;
	for (int r = 0; r < rounds * 4; r++) {
		int shift = r % 4 * BITS;
		for (int d = 0; d < RADIX; d++)
			rank[me][d] = 0;
		for (size_t i = lo; i < hi; i++)
			rank[me][key[i] >> shift & (RADIX - 1)]++;
		pthread_barrier_wait(&barrier);
		if (me == 0)
			prefix();
		pthread_barrier_wait(&barrier);
		for (size_t i = lo; i < hi; i++)
			other[rank[me][key[i] >> shift & (RADIX - 1)]++] = key[i];
		pthread_barrier_wait(&barrier);
		if (me == 0) {
			unsigned *swap = key;
			key = other;
			other = swap;
		}
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		threads = atoi(argv[1]);
	if (argc > 2)
		n = (size_t)atol(argv[2]) * 1000;
	if (argc > 3)
		rounds = atoi(argv[3]);
	key = malloc(n * sizeof *key);
	other = malloc(n * sizeof *other);
	rank = malloc((size_t)threads * sizeof *rank);
	unsigned seed = 1;
	for (size_t i = 0; i < n; i++)
		key[i] = seed = seed * 1664525 + 1013904223;
	pthread_t t[64];
	pthread_barrier_init(&barrier, NULL, (unsigned)threads);
	for (long i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	for (size_t i = 1; i < n; i++)
		if (key[i - 1] > key[i])
			return 1;
	printf("%u %u\n", key[0], key[n / 2]);
	return 0;
}
