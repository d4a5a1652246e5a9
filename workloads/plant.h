/* What the programs with a planted machine cause have in common: every thread
 * executes the same instructions as often; only the machine treats them
 * differently. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P;
static pthread_barrier_t bar;
static volatile long result[1024 * 16];

static void setup(void);
static void *worker(void *arg);

static inline unsigned next(unsigned *seed) { return *seed = *seed * 1664525 + 1013904223, *seed >> 8; }

int main(int argc, char **argv)
{
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, (unsigned)P);
	setup();
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", result[0]);
	return 0;
}
