/* Every thread reads as many elements of an array of its own; every fourth jumps
 * from line to line. */
#include "../plant.h"

enum { N = 1 << 17, READS = 20000 };
static long *data[1024];

static void setup(void)
{
	for (int t = 0; t < P; t++)
		data[t] = calloc(N, sizeof(long));
}

static void *worker(void *arg)
{
	long id = (long)arg, s = 0;
	for (int round = 0; round < 3; round++) {
		long *d = data[id];
		unsigned step = id % 4 == 1 ? 57 : 1, at = 0;
		for (int i = 0; i < READS; i++) {
			s += d[at]; /* CAUSE */
			at = (at + step) % N;
		}
		result[id * 16] = s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}
