/* As many reads at random places for every thread, in much data or little. */
#include "../plant.h"

enum { READS = 20000 };
static long *data[1024];
static unsigned size[1024];

static void setup(void)
{
	for (int t = 0; t < P; t++) {
		size[t] = t % 4 == 2 ? 1 << 17 : 1 << 10;
		data[t] = calloc(size[t], sizeof(long));
	}
}

static void *worker(void *arg)
{
	long id = (long)arg, s = 0;
	for (int round = 0; round < 3; round++) {
		long *d = data[id];
		unsigned seed = 7, mask = size[id] - 1;
		for (int i = 0; i < READS; i++)
			s += d[next(&seed) & mask]; /* CAUSE */
		result[id * 16] = s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}
