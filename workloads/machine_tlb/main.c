/* Every thread reads 192 lines in turn, which fit the first cache; those of every
 * fourth lie on as many pages. */
#include "../plant.h"

enum { LINES = 192, READS = 8000 };
static char *data[1024];
static unsigned stride[1024];

static void setup(void)
{
	for (int t = 0; t < P; t++) {
		stride[t] = t % 4 == 3 ? 4096 + 64 : 64;
		data[t] = calloc(LINES + 1, 4096 + 64);
		for (unsigned k = 0; k < LINES; k++)
			*(unsigned *)(data[t] + (size_t)k * stride[t]) = (k + 1) % LINES * stride[t];
	}
}

static void *worker(void *arg)
{
	long id = (long)arg, s = 0;
	for (int round = 0; round < 3; round++) {
		char *d = data[id];
		unsigned at = 0;
		for (int i = 0; i < READS; i++) {
			at = *(unsigned *)(d + at); /* CAUSE */
			s += at;
		}
		result[id * 16] = s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}
