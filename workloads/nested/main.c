/* Conditions within conditions; the innermost one costs, and only some threads' data
 * get there. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P, N = 5000;
static int *kind[1024];
static double out[1024];
static pthread_barrier_t bar;

__attribute__((noinline)) static double solve(double v) {
	for (int i = 0; i < 60; i++)
		v = v * 0.7 + 2.0 / (v + 3.0);
	return v;
}

static void *worker(void *arg) {
	long id = (long)arg;
	double s = 0;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < N; i++) {
			int k = kind[id][i];
			if (k & 1) {
				s += 1;
				if (k & 2) {
					s += 2;
					if (k & 4) /* CAUSE */
						s += solve(k); /* CAUSE */
				}
			} else if (k & 8) {
				s -= 1;
			}
		}
		out[id] = s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	for (int t = 0; t < P; t++) {
		kind[t] = malloc(sizeof(int) * N);
		for (int i = 0; i < N; i++) {
			kind[t][i] = i % 4 | (i % 3 == 0 ? 8 : 0);
			if (i % 4 == 3 && i / 4 % 16 < t * 7 % 16)
				kind[t][i] |= 4;
		}
	}
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", out[1]);
	return 0;
}
