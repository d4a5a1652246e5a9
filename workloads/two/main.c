/* Two causes at once: a loop whose length differs (about two thirds of what the
 * last thread works longer) and a dear case (about one third). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P;
static int length[1024], rare[1024];
static double out[1024];
static pthread_barrier_t bar;

__attribute__((noinline)) static double dear(double x) {
	for (int i = 0; i < 100; i++)
		x = x * 0.5 + 1;
	return x;
}

__attribute__((noinline)) static double sweep(double x, int n) {
	for (int i = 0; i < n; i++) /* CAUSE */
		x = x * 0.999 + i;
	return x;
}

__attribute__((noinline)) static double pick(double x, int n) {
	for (int i = 0; i < 400; i++)
		if (i < n) /* SECOND */
			x += dear(x);
	return x;
}

static void *worker(void *arg) {
	long id = (long)arg;
	double x = 0;
	for (int round = 0; round < 4; round++) {
		x = sweep(x, length[id]);
		x = pick(x, rare[id]);
		out[id] = x;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	for (int t = 0; t < P; t++) {
		length[t] = 4000 + t * 5 % 8 * 4000;
		rare[t] = 20 + t * 3 % 8 * 20;
	}
	length[P - 1] = 4000 + 8 * 4000;
	rare[P - 1] = 20 + 8 * 20;
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", out[0]);
	return 0;
}
