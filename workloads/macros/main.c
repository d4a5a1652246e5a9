/* Barriers as macros that are written out at every place, as in old benchmark suites;
 * the main thread is one of the workers. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P;
static double out[1024];

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t cv;
	unsigned long counter, cycle;
} start = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

#define BARRIER(b, n) \
	{ \
		pthread_mutex_lock(&(b).mutex); \
		unsigned long cycle = (b).cycle; \
		if (++(b).counter != (unsigned long)(n)) { \
			while (cycle == (b).cycle) \
				if (pthread_cond_wait(&(b).cv, &(b).mutex) != 0) \
					break; \
		} else { \
			(b).cycle = !(b).cycle; \
			(b).counter = 0; \
			pthread_cond_broadcast(&(b).cv); \
		} \
		pthread_mutex_unlock(&(b).mutex); \
	}

static void slave(long id) {
	double x = 0;
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 5000; i++)
			x = x * 0.99 + i;
		BARRIER(start, P)
		int n = 2000 + (int)(id * 7 % 10) * 2000;
		for (int i = 0; i < n; i++) /* CAUSE */
			x = x * 0.999 + i;
		out[id] = x;
		BARRIER(start, P) /* END */
	}
}

static void *go(void *arg) {
	slave((long)arg);
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t t[1024];
	for (long i = 1; i < P; i++)
		pthread_create(&t[i], NULL, go, (void *)i);
	slave(0);
	for (int i = 1; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", out[0]);
	return 0;
}
