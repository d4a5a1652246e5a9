/* As compiled without optimisation: matrix rows with unequal numbers of entries. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P, ROWS = 40;
static int *first[1024];
static double value[4096], out[1024];
static pthread_barrier_t bar;

static double dot(int n) {
	double s = 0;
	for (int i = 0; i < n; i++) /* CAUSE */
		s += value[i] * 0.5;
	return s;
}

static void *worker(void *arg) {
	long id = (long)arg;
	for (int round = 0; round < 2; round++) {
		for (int r = 0; r < ROWS; r++)
			out[id] += dot(first[id][r]);
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	for (int t = 0; t < P; t++) {
		first[t] = malloc(sizeof(int) * ROWS);
		for (int r = 0; r < ROWS; r++)
			first[t][r] = 30 + t * 11 % 19 * 25 + r % 3;
	}
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", out[0]);
	return 0;
}
