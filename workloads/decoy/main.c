/* A loop that differs between the threads is the cause; a branch that differs just
 * as much, and costs nothing, is not. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P;
static volatile int mark[1024];
static double out[1024];
static pthread_barrier_t bar;

static void *worker(void *arg) {
	long id = (long)arg;
	double x = 0;
	for (int round = 0; round < 4; round++) {
		int n = 3000 + (int)(id * 5 % 7) * 3000;
		for (int i = 0; i < 200; i++)
			if (i % 8 < id * 3 % 8)
				mark[id]++;
			else
				mark[id]--;
		for (int i = 0; i < n; i++) /* CAUSE */
			x = x * 0.999 + i;
		out[id] = x;
		pthread_barrier_wait(&bar); /* END */
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
