/* One pass of a radix sort whose keys are spread unevenly: the parts of some
 * threads hold few digits, those of others all. */
#include "../../workloads/plant.h"

enum { DIGITS = 1024, KEYS = 1 << 17 };
static unsigned *key, *sorted, (*rank)[DIGITS];

static void setup(void)
{
	unsigned seed = 1;
	key = malloc(KEYS * sizeof *key);
	sorted = malloc(KEYS * sizeof *sorted);
	rank = calloc((size_t)P, sizeof *rank);
	for (unsigned i = 0; i < KEYS; i++)
		key[i] = (next(&seed) >> 4) % (i / (KEYS / P) % 4 == 1 ? DIGITS : 16);
}

static void *worker(void *arg)
{
	long id = (long)arg;
	unsigned lo = KEYS / P * id, hi = KEYS / P * (id + 1);
	for (int round = 0; round < 3; round++) {
		for (int d = 0; d < DIGITS; d++)
			rank[id][d] = 0;
		for (unsigned i = lo; i < hi; i++)
			rank[id][key[i]]++;
		pthread_barrier_wait(&bar);
		if (id == 0) {
			unsigned at = 0;
			for (int d = 0; d < DIGITS; d++)
				for (int t = 0; t < P; t++) {
					unsigned n = rank[t][d];
					rank[t][d] = at;
					at += n;
				}
		}
		pthread_barrier_wait(&bar);
		for (unsigned i = lo; i < hi; i++)
			sorted[rank[id][key[i]]++] = key[i];
		pthread_barrier_wait(&bar); /* SECTION */
	}
	result[id * 16] = sorted[lo];
	return NULL;
}
