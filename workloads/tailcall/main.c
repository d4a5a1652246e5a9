/* The barrier is reached by a jump: the last thing that phase does is to wait. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P;
static double out[1024];
static pthread_barrier_t bar;

__attribute__((noinline)) static int phase(long id, int n) {
	double x = out[id];
	for (int i = 0; i < n; i++) /* CAUSE */
		x = x * 0.999 + i;
	out[id] = x;
	return pthread_barrier_wait(&bar); /* END */
}

static void *worker(void *arg) {
	long id = (long)arg;
	for (int round = 0; round < 5; round++) {
		phase(id, 2000 + (int)(id * 7 % 10) * 2000);
		out[id] *= 0.5;
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", out[0]);
	return 0;
}
