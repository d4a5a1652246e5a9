/* The main thread writes the data of every thread first, so that all of it lies
 * on its node; only the upper half of the threads is far from there. */
#include "../plant.h"

enum { N = 1 << 15 };
static long *data[1024];

static void setup(void)
{
	for (int t = 0; t < P; t++) {
		data[t] = malloc(N * sizeof(long));
		for (int i = 0; i < N; i += 8)
			data[t][i] = i;
	}
}

static void *worker(void *arg)
{
	long id = (long)arg, s = 0;
	for (int round = 0; round < 3; round++) {
		long *d = data[id];
		unsigned at = 0;
		for (int i = 0; i < 8000; i++) {
			at = ((unsigned)d[at] + 296) & (N - 1) & ~7u; /* CAUSE */
			s += at;
		}
		result[id * 16] = s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}
