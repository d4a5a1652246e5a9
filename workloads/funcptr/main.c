/* Jobs call through a function pointer; one kind of job is dear, and some threads have
 * more of it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P, N = 2000;
typedef double job(double);

__attribute__((noinline)) static double cheap(double x) { return x + 1; }
__attribute__((noinline)) static double middle(double x) {
	for (int i = 0; i < 5; i++)
		x = x * 0.5 + 1;
	return x;
}
__attribute__((noinline)) static double dear(double x) {
	for (int i = 0; i < 200; i++)
		x = x * 0.5 + 1;
	return x;
}

static job **todo[1024];
static double out[1024];
static pthread_barrier_t bar;

static void *worker(void *arg) {
	long id = (long)arg;
	double x = 0;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++)
			x = todo[id][i](x); /* CAUSE */
		out[id] = x;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	for (int t = 0; t < P; t++) {
		todo[t] = malloc(sizeof(job *) * N);
		for (int i = 0; i < N; i++)
			todo[t][i] = i % 20 < t * 3 % 7 ? dear : i % 2 ? cheap : middle;
	}
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", out[0]);
	return 0;
}
