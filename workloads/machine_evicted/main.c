/* Every thread walks a ring and writes a stream, step by step. The first one's
 * ring would fit the shared cache, if the streams of the others did not take its
 * lines away; theirs fit their own caches. */
#include "../plant.h"

enum { STEPS = 24000, RING = 24000, LINE = 8 };
static long *ring[1024], *stream[1024];
static unsigned mask[1024];

static void setup(void)
{
	for (int t = 0; t < P; t++) {
		unsigned n = t == 0 ? RING : 16, at = 0;
		ring[t] = malloc(n * LINE * sizeof(long));
		for (unsigned i = 0; i < n; i++) { /* 7 has no factor with n: every line once */
			unsigned to = (at + 7) % n;
			ring[t][at * LINE] = to * LINE;
			at = to;
		}
		mask[t] = t == 0 ? 63 : (1 << 18) - 1;
		stream[t] = malloc((mask[t] + 1) * sizeof(long));
	}
}

static void *worker(void *arg)
{
	long id = (long)arg, at = 0;
	unsigned x = (unsigned)id, every = (unsigned)(P / 4);
	for (int round = 0; round < 3; round++) {
		long *r = ring[id], *s = stream[id];
		for (unsigned i = 0; i < STEPS; i++) {
			at = r[at]; /* CAUSE */
			s[i / every * LINE & mask[id]] = i; /* WRONG */
			for (int k = 0; k < 6; k++)
				x = x * 1664525 + 1013904223;
		}
		result[id * 16] = at + x;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}
