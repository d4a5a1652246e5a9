#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* A reader, workers that take its blocks in any order, and a writer that takes them in theirs. */
typedef struct { void (*run)(void); } start;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static int blocks, taken, made, ended;
static double out[4096];
static char finished[4096];

static double squeeze(int b, int n) {
	double s = 0;
	for (int k = 1; k < n; k++) /* CAUSE */
		s += 1.0 / (k + b);
	return s;
}
static void worker(void) {
	for (;;) {
		pthread_mutex_lock(&lock);
		while (taken == made && !ended)
			pthread_cond_wait(&ready, &lock);
		int b = taken < made ? taken++ : -1;
		pthread_mutex_unlock(&lock);
		if (b < 0)
			return;
		double x = squeeze(b, b == blocks / 2 ? 400000 : 6000);
		pthread_mutex_lock(&lock);
		out[b] = x, finished[b] = 1;
		pthread_cond_signal(&done);
		pthread_mutex_unlock(&lock);
	}
}
static void writer(void) {
	double sum = 0;
	for (int b = 0; b < blocks; b++) {
		pthread_mutex_lock(&lock);
		while (!finished[b])
			pthread_cond_wait(&done, &lock);
		pthread_mutex_unlock(&lock);
		sum += out[b];
	}
	printf("%g\n", sum);
}
static void *begin(void *arg) {
	((start *)arg)->run();
	return NULL;
}
int main(int argc, char **argv) {
	int p = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t t[64], w;
	start work = {worker}, write = {writer};
	blocks = 6 * p;
	pthread_create(&w, NULL, begin, &write);
	for (int i = 0; i < p; i++)
		pthread_create(&t[i], NULL, begin, &work);
	for (int b = 0; b < blocks; b++) {
		pthread_mutex_lock(&lock);
		made++;
		pthread_cond_signal(&ready);
		pthread_mutex_unlock(&lock);
	}
	pthread_join(w, NULL); /* END */
	pthread_mutex_lock(&lock);
	ended = 1;
	pthread_cond_broadcast(&ready); /* END */
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < p; i++)
		pthread_join(t[i], NULL); /* END */
	return 0;
}
