/* Every thread reads sixteen lines in turn; those of every fourth all belong in one
 * set of the first cache. What they read beside it misses for all of them alike. */
#include "../plant.h"

enum { READS = 8000, LINES = 600 };
static char *data[1024];
static long *other[1024];
static unsigned stride[1024];
static char washed[4 << 20];

static void setup(void)
{
	for (int t = 0; t < P; t++) {
		stride[t] = t % 4 == 2 ? 4096 : 4096 + 64;
		other[t] = calloc(LINES * 8, sizeof(long));
		for (int i = 0; i < LINES * 8; i += 8)
			other[t][i] = i;
		data[t] = aligned_alloc(4096, 17 * 8192);
		for (int i = 0; i < 17 * 8192; i += 4096)
			data[t][i] = 0;
		for (unsigned k = 0; k < 16; k++)
			*(unsigned *)(data[t] + (size_t)k * stride[t]) = (k + 1) % 16 * stride[t];
	}
	for (size_t i = 0; i < sizeof washed; i += 64) /* nobody's data stays in this core's caches */
		washed[i]++;
}

static void *worker(void *arg)
{
	long id = (long)arg, s = 0;
	for (int round = 0; round < 3; round++) {
		char *d = data[id];
		unsigned at = 0;
		for (int i = 0; i < READS; i++)
			s += at = *(unsigned *)(d + at); /* CAUSE */
		for (unsigned i = 0; i < LINES * 8; i += 8)
			s += other[id][i]; /* WRONG */
		result[id * 16] = s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}
