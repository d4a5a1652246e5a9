// Even sweeps; thread 0 alone copies the border between two passages of a barrier that spins and yields, and which the compiler
// inlines at both places.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 20000, STEPS = 6 };

static atomic_int arrived, phase;
static int threads;
static double grid[SIZE], next[SIZE];

static inline void meet(void)
{
	int now = atomic_load(&phase);
	if (atomic_fetch_add(&arrived, 1) + 1 == threads) {
		atomic_store(&arrived, 0);
		atomic_fetch_add(&phase, 1);
	} else {
		while (atomic_load(&phase) == now)
			sched_yield();
	}
}

static void *work(void *arg)
{
	int id = (int)(long)arg;
	for (int step = 0; step < STEPS; step++) {
		for (int i = id * SIZE / threads; i < (id + 1) * SIZE / threads; i++)
			next[i] = grid[i] * .5 + grid[(i + 1) % SIZE] * .5;
		meet();
		if (id == 0) { // CAUSE
			for (int i = 0; i < SIZE; i++)
				grid[i] = next[i] + .001 * (i & 3);
		}
		meet(); // END
	}
	return NULL;
}

int main(int argc, char **argv)
{
	threads = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t t[64];
	for (long i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", grid[7]);
}
