/* n / P elements for each thread; the rest, up to P - 1 of them, for the last. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P, N;
static double *x;
static double out[1024];
static pthread_barrier_t bar;

__attribute__((noinline)) static double heavy(double v) {
	for (int i = 0; i < 500; i++)
		v = v * 0.9 + i;
	return v;
}

static void *worker(void *arg) {
	long id = (long)arg;
	int chunk = N / P, lo = (int)id * chunk, hi = id == P - 1 ? N : lo + chunk;
	for (int round = 0; round < 4; round++) {
		for (int i = lo; i < hi; i++) /* CAUSE */
			out[id] += heavy(x[i]);
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	N = 8 * P - 1;
	x = calloc(N, sizeof *x);
	pthread_barrier_init(&bar, NULL, P);
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", out[P - 1]);
	return 0;
}
