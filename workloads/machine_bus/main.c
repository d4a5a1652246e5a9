/* Every thread reads as many lines of its own from the shared cache, and computes
 * as long. Three in four read first and compute then, and crowd the bus; the
 * others compute first, and have it nearly for themselves. */
#include "../plant.h"

enum { READS = 48000, SPINS = 72000, LINES = 1 << 10, LINE = 8 };
static long *data[1024];

static void setup(void)
{
	for (int t = 0; t < P; t++) {
		data[t] = malloc(LINES * LINE * sizeof(long));
		for (int i = 0; i < LINES; i++)
			data[t][i * LINE] = i;
	}
}

static void *worker(void *arg)
{
	long id = (long)arg, s = 0;
	unsigned late = id % 4 == 3;
	for (int round = 0; round < 3; round++) {
		long *d = data[id];
		for (unsigned phase = 0; phase < 2; phase++) {
			if (phase == late) {
				for (int i = 0; i < READS / P; i++)
					s += d[i % LINES * LINE]; /* CAUSE */
			} else {
				unsigned x = (unsigned)id;
				for (int i = 0; i < SPINS; i++)
					x = x * 1664525 + 1013904223;
				s += x;
			}
		}
		result[id * 16] = s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}
