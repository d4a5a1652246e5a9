/* Every thread does its share; one also formats what all of them found. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P, STEPS = 12;
static double result[2][1024];
static char text[1 << 16];
static pthread_barrier_t bar;

static double work(long id, int step) {
	double s = 0;
	for (int i = 1; i < 4000; i++)
		s += 1.0 / (i + id + step);
	return s;
}

static void report(const double *r) {
	int n = 0;
	for (int i = 0; i < 60; i++)
		n += snprintf(text + n % 32768, 64, "%d %.3f\n", i, r[i % P]);
}

static void *worker(void *arg) {
	long id = (long)arg;
	for (int step = 0; step < STEPS; step++) {
		result[step % 2][id] = work(id, step);
		if (id == 0) /* CAUSE */
			report(result[(step + 1) % 2]); /* CAUSE */
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
	fputs(text, stdout);
	return 0;
}
