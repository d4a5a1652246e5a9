/* The same number of elements for each thread, but a dear case for some of them
 * only, and more of those in some threads. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P, N = 4000;
static int *data[1024];
static double out[1024];
static pthread_barrier_t bar;

__attribute__((noinline)) static double dear(double x) {
	for (int i = 0; i < 40; i++)
		x = x * 0.5 + 1.0 / (x + 1.0);
	return x;
}

static void *worker(void *arg) {
	long id = (long)arg;
	const int *d = data[id];
	double s = 0;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++) {
			if (d[i] > 900) /* CAUSE */
				s += dear(d[i]);
			else
				s += d[i];
		}
		out[id] = s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	unsigned seed = 3;
	for (int t = 0; t < P; t++) {
		data[t] = malloc(sizeof(int) * N);
		for (int i = 0; i < N; i++) {
			seed = seed * 1103515245 + 12345;
			data[t][i] = (int)(seed >> 16) % (905 + 40 * (t * 5 % 11));
		}
	}
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", out[0]);
	return 0;
}
