/* The two ways of a branch do the same amount; for every fourth thread the data
 * is random. */
#include "../plant.h"

enum { N = 8192, READS = 30000 };
static unsigned char *data[1024];

static void setup(void)
{
	unsigned seed = 5;
	for (int t = 0; t < P; t++) {
		data[t] = malloc(N);
		for (int i = 0; i < N; i++)
			data[t][i] = t % 4 == 1 ? next(&seed) >> 15 & 1 : i & 1;
	}
}

static void *worker(void *arg)
{
	long id = (long)arg, s = 0;
	for (int round = 0; round < 3; round++) {
		unsigned char *d = data[id];
		for (int i = 0; i < READS; i++) {
			if (d[i % N]) /* CAUSE */
				__asm__ volatile("add $3, %0" : "+r"(s));
			else
				__asm__ volatile("add $5, %0" : "+r"(s));
		}
		result[id * 16] = s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}
