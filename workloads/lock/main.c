/* Equal work, but every thread needs the same lock for a long while in the middle: the
 * later one comes, the longer one waits. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P;
static double shared_sum;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t bar;

static double grind(double x, int n) {
	for (int i = 0; i < n; i++)
		x = x * 0.999 + 1.0 / (1.0 + x);
	return x;
}

static void *worker(void *arg) {
	long id = (long)arg;
	double x = (double)id;
	for (int round = 0; round < 3; round++) {
		x = grind(x, 3000);
		pthread_mutex_lock(&m); /* CAUSE */
		shared_sum = grind(shared_sum + x, 2000);
		pthread_mutex_unlock(&m);
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
	printf("%g\n", shared_sum);
	return 0;
}
