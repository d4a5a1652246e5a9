#include <pthread.h>
#include <stdlib.h>

/* P threads run worker(id); the main thread only starts and joins them. */
enum { P = 8 };

static double cell[64];

static void *worker(void *arg);

__attribute__((noinline)) static void work(long id, int n) {
	double x = cell[id];
	for (int i = 0; i < n; i++)
		x = x * 0.5 + i;
	cell[id] = x;
}

static int run_all(void) {
	pthread_t t[P];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	return 0;
}
