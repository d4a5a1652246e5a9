/* A pool: the main thread deals a batch out, the workers take a share each, the
 * last one to finish tells the main thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P, batch, working;
static double out[1024];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER, ready = PTHREAD_COND_INITIALIZER;

static void share(long id) {
	double x = out[id];
	int n = 3000 + (int)(id * 7 % 10) * 3000;
	for (int i = 0; i < n; i++) /* CAUSE */
		x = x * 0.999 + i;
	out[id] = x;
}

static void *worker(void *arg) {
	long id = (long)arg;
	for (int seen = 0;;) {
		pthread_mutex_lock(&m);
		while (batch == seen)
			pthread_cond_wait(&go, &m);
		seen = batch;
		pthread_mutex_unlock(&m);
		if (seen < 0)
			return NULL;
		share(id);
		pthread_mutex_lock(&m);
		if (--working == 0)
			pthread_cond_signal(&ready);
		pthread_mutex_unlock(&m);
	}
}

static void run_batch(int n) {
	pthread_mutex_lock(&m);
	batch = n;
	working = P;
	pthread_cond_broadcast(&go);
	while (n > 0 && working > 0)
		pthread_cond_wait(&ready, &m); /* END */
	pthread_mutex_unlock(&m);
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int n = 1; n <= 6; n++)
		run_batch(n); /* END */
	run_batch(-1);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", out[0]);
	return 0;
}
