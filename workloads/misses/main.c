/* Every thread goes through the same number of cells, some through memory that fits into the
 * cache, some through memory that does not: the same code costs them more. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 20000, CELLS = 1 << 16, LINE = 16 };

static int P;
static int *memory[1024];
static long out[1024];
static pthread_barrier_t bar;

static void *worker(void *arg) {
	long id = (long)arg, sum = 0;
	int *m = memory[id];
	unsigned mask = id % 4 == 0 ? CELLS - 1 : 63;
	unsigned at = 1;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < STEPS; i++) {
			at = at * 5 + 1;
			sum += m[(at & mask) * LINE]; /* CAUSE */
		}
		out[id] = sum;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	for (int t = 0; t < P; t++) {
		memory[t] = calloc(CELLS * LINE, sizeof(int));
		for (int i = 0; i < 64; i++)
			memory[t][i * LINE] = t;
	}
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", out[0]);
	return 0;
}
