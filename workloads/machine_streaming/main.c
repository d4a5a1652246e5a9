/* Every thread writes as many elements; every fourth writes on and on through a
 * long array, the others stay in a short one. */
#include "../plant.h"

enum { WRITES = 20000 };
static long *data[1024];
static unsigned size[1024];

static void setup(void)
{
	for (int t = 0; t < P; t++) {
		size[t] = t % 4 == 3 ? 1 << 18 : 1 << 9;
		data[t] = malloc(size[t] * sizeof(long));
	}
}

static void *worker(void *arg)
{
	long id = (long)arg, s = 0;
	for (int round = 0; round < 3; round++) {
		long *d = data[id];
		unsigned mask = size[id] - 1, at = (unsigned)round * WRITES * 8;
		for (int i = 0; i < WRITES; i++) {
			d[at & mask] = i; /* CAUSE */
			at += 8;
		}
		s = d[0];
		result[id * 16] = s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}
