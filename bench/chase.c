/* Threads that each follow pointers through memory of their own.
 *     chase [THREADS] [MILLIONS OF STEPS] */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 1 << 18 };
static long steps = 4000000;

static void *work(void *arg)
{
	uint32_t *next = malloc(NODES * sizeof *next);
	uint64_t x = (uintptr_t)arg * 77 + 1;
	for (uint32_t i = 0; i < NODES; i++)
		next[i] = i;
	for (uint32_t i = NODES - 1; i > 0; i--) { /* one cycle (Sattolo) */
		x = x * 6364136223846793005u + 1442695040888963407u;
		uint32_t j = (x >> 33) % i, t = next[i];
		next[i] = next[j], next[j] = t;
	}
	uint32_t at = 0;
	for (long i = 0; i < steps; i++)
		at = next[at];
	free(next);
	return (void *)(uintptr_t)at;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 2;
	if (argc > 2)
		steps = atol(argv[2]) * 1000000;
	pthread_t t[64];
	for (long i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	uintptr_t sum = 0;
	for (int i = 0; i < threads; i++) {
		void *r;
		pthread_join(t[i], &r);
		sum += (uintptr_t)r;
	}
	printf("%lu\n", (unsigned long)sum);
	return 0;
}
