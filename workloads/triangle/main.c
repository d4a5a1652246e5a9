/* A triangular loop, its rows dealt out in equal blocks. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P, N = 1200;
static double *x, *y;

static void *worker(void *arg) {
	long id = (long)arg;
	int lo = (int)(id * N / P), hi = (int)((id + 1) * N / P);
	for (int i = lo; i < hi; i++) {
		double s = 0;
		for (int j = 0; j < i; j++) /* CAUSE */
			s += x[j] * x[i];
		y[i] = s;
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	x = calloc(N, sizeof *x);
	y = calloc(N, sizeof *y);
	for (int i = 0; i < N; i++)
		x[i] = i % 17;
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL); /* END */
	printf("%g\n", y[N - 1]);
	return 0;
}
