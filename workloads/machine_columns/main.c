/* Every thread sums a matrix of its own; every fourth does it column by column. What
 * they sum beside it misses for all of them alike. */
#include "../plant.h"

enum { SIDE = 320, LINES = 600 };
static long *data[1024], *other[1024];
static unsigned inner[1024], outer[1024];

static void setup(void)
{
	for (int t = 0; t < P; t++) {
		data[t] = calloc(SIDE * SIDE, sizeof(long));
		other[t] = calloc(LINES * 8, sizeof(long));
		for (int i = 0; i < LINES * 8; i += 8)
			other[t][i] = i;
		inner[t] = t % 4 == 1 ? SIDE : 1;
		outer[t] = t % 4 == 1 ? 1 : SIDE;
	}
}

static void *worker(void *arg)
{
	long id = (long)arg, s = 0;
	for (int round = 0; round < 3; round++) {
		long *d = data[id];
		unsigned in = inner[id], out = outer[id];
		for (unsigned i = 0; i < SIDE; i++)
			for (unsigned j = 0; j < SIDE; j++)
				s += d[i * out + j * in]; /* CAUSE */
		for (unsigned i = 0; i < LINES * 8; i += 8)
			s += other[id][i]; /* WRONG */
		result[id * 16] = s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}
