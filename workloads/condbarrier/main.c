/* A barrier built from a mutex and a condition variable, called at two places. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P;
static double out[1024];

struct barrier {
	pthread_mutex_t m;
	pthread_cond_t c;
	int n, count;
	unsigned generation;
};

static struct barrier bar = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};

static void barrier_wait(struct barrier *b) {
	pthread_mutex_lock(&b->m);
	unsigned g = b->generation;
	if (++b->count == b->n) {
		b->count = 0;
		b->generation++;
		pthread_cond_broadcast(&b->c);
	} else {
		while (b->generation == g)
			pthread_cond_wait(&b->c, &b->m);
	}
	pthread_mutex_unlock(&b->m);
}

static void *worker(void *arg) {
	long id = (long)arg;
	double x = 0;
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 5000; i++)
			x = x * 0.99 + i;
		barrier_wait(&bar);
		int n = 2000 + (int)(id * 7 % 10) * 2000;
		for (int i = 0; i < n; i++) /* CAUSE */
			x = x * 0.999 + i;
		out[id] = x;
		barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	bar.n = P;
	pthread_t t[1024];
	for (long i = 1; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker(NULL);
	for (int i = 1; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", out[0]);
	return 0;
}
