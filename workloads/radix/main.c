/* One pass of a radix sort: every thread moves the keys of its digits; the keys
 * are skewed, so some digits are much more frequent than others. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define DIGITS 256
static int P, N = 60000;
static unsigned *key, *out;
static int start[DIGITS + 1];
static int *bucket[DIGITS];
static pthread_barrier_t bar;

static void *worker(void *arg) {
	long id = (long)arg;
	for (int pass = 0; pass < 3; pass++) {
		for (int d = (int)id; d < DIGITS; d += P) {
			int n = start[d + 1] - start[d];
			unsigned *to = out + start[d];
			for (int i = 0; i < n; i++) /* CAUSE */
				to[i] = key[bucket[d][i]] ^ (unsigned)pass;
		}
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	key = malloc(sizeof *key * N);
	out = malloc(sizeof *out * N);
	int count[DIGITS] = {0};
	unsigned seed = 7;
	for (int i = 0; i < N; i++) {
		seed = seed * 1664525 + 1013904223;
		unsigned d = seed >> 24;
		key[i] = d * d / 256 * d / 256; /* small digits are frequent */
		count[key[i] % DIGITS]++;
	}
	for (int d = 0; d < DIGITS; d++) {
		start[d + 1] = start[d] + count[d];
		bucket[d] = malloc(sizeof(int) * (count[d] + 1));
		count[d] = 0;
	}
	for (int i = 0; i < N; i++) {
		int d = (int)(key[i] % DIGITS);
		bucket[d][count[d]++] = i;
	}
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	unsigned h = 0;
	for (int i = 0; i < N; i++)
		h = h * 31 + out[i];
	printf("%u\n", h);
	return 0;
}
