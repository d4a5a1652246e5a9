/* Every thread follows a chain for as many steps; some chains are short, and stay
 * in the cache. */
#include "../plant.h"

enum { STEPS = 15000 };
struct node { struct node *next; long fill[7]; };
static struct node *start[1024];

static struct node *chain(unsigned n)
{
	struct node *all = calloc(n, sizeof *all);
	for (unsigned i = 0; i < n; i++)
		all[i * 1365 % n].next = &all[(i + 1) * 1365 % n];
	return all;
}

static void setup(void)
{
	for (int t = 0; t < P; t++)
		start[t] = chain(t % 4 == 2 ? 1 << 14 : 1 << 7);
}

static void *worker(void *arg)
{
	long id = (long)arg, s = 0;
	for (int round = 0; round < 3; round++) {
		struct node *p = start[id];
		for (int i = 0; i < STEPS; i++)
			p = p->next; /* CAUSE */
		s += p->fill[0];
		result[id * 16] = s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}
