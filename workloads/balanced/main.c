/* Nothing is wrong here: all threads do the same. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P;
static double out[1024];
static pthread_barrier_t bar;

static void *worker(void *arg) {
	long id = (long)arg;
	double x = (double)id;
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 20000; i++)
			x = x * 0.999 + i;
		out[id] = x;
		pthread_barrier_wait(&bar);
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
