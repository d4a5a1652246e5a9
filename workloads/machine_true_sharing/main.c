/* Atomic counting: every fourth thread in a common counter, the others each in
 * one of their own. */
#include "../plant.h"

enum { COUNTS = 4000 };
static long counter[1024 * 16] __attribute__((aligned(64)));

static void setup(void) {}

static void *worker(void *arg)
{
	long id = (long)arg, s = 0;
	for (int round = 0; round < 3; round++) {
		long *c = &counter[id % 4 == 0 ? 0 : id * 16];
		for (int i = 0; i < COUNTS; i++)
			__atomic_add_fetch(c, 1, __ATOMIC_RELAXED); /* CAUSE */
		s = id;
		result[id * 16] = s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}
