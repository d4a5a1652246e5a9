/* Every thread walks through rows of its own that do not fit into its cache, between barriers: all
 * do the same, and together they ask for more lines than a bus carries. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 24, COLUMNS = 512, ROUNDS = 6 };

static pthread_barrier_t bar;
static double sum[64 * 8];

static void *worker(void *arg) {
	long me = (long)arg;
	double *a = calloc(ROWS * COLUMNS, sizeof(double)), *b = calloc(ROWS * COLUMNS, sizeof(double));
	for (int round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(&bar);
		for (int i = COLUMNS; i < (ROWS - 1) * COLUMNS; i++)
			b[i] = a[i] + a[i - COLUMNS] + a[i + COLUMNS];
		double *c = a;
		a = b, b = c;
	}
	sum[me * 8] = a[COLUMNS];
	return NULL;
}

int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t t[64];
	pthread_barrier_init(&bar, NULL, n);
	for (long i = 0; i < n; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", sum[0]);
	return 0;
}
