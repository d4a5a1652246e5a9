/* The threads take different branches, of equal price: nothing is wrong. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P;
static double out[1024];
static pthread_barrier_t bar;

__attribute__((noinline)) static double left(double x) {
	for (int i = 0; i < 30; i++)
		x = x * 0.5 + 1;
	return x;
}

__attribute__((noinline)) static double right(double x) {
	for (int i = 0; i < 30; i++)
		x = x * 0.6 + 2;
	return x;
}

static void *worker(void *arg) {
	long id = (long)arg;
	unsigned seed = (unsigned)id * 77 + 5;
	double x = 0;
	for (int round = 0; round < 6; round++) {
		for (int i = 0; i < 1500; i++) {
			seed = seed * 1103515245 + 12345;
			if ((seed >> 16) % 16 < (unsigned)id % 16)
				x += left(x);
			else
				x += right(x);
		}
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
