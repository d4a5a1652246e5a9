/* As compiled with everything on: a vectorised loop of unequal length. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P;
static float *x[1024], *y[1024];
static pthread_barrier_t bar;

static void *worker(void *arg) {
	long id = (long)arg;
	int n = 4000 + (int)(id * 7 % 10) * 4000;
	float *restrict a = x[id], *restrict b = y[id];
	for (int round = 0; round < 12; round++) {
		for (int i = 0; i < n; i++) /* CAUSE */
			b[i] = a[i] * 0.5f + b[i]; /* CAUSE */
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	for (int t = 0; t < P; t++) {
		x[t] = calloc(40000, sizeof(float));
		y[t] = calloc(40000, sizeof(float));
	}
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", y[0][0]);
	return 0;
}
