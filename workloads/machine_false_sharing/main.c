/* Every thread counts in a counter of its own; the first four counters lie in one
 * line, all others have a line each. */
#include "../plant.h"

enum { COUNTS = 30000 };
static volatile long counter[1024 * 16] __attribute__((aligned(64)));

static void setup(void) {}

static void *worker(void *arg)
{
	long id = (long)arg, s = 0;
	for (int round = 0; round < 3; round++) {
		volatile long *c = &counter[id < 4 ? id : id * 16];
		for (int i = 0; i < COUNTS; i++)
			*c += i; /* CAUSE */
		s = *c;
		result[id * 16] = s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}
