/* A tournament barrier: flags pass from thread to thread up a tree and down again. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static int P;
static double out[1024];
static struct { _Alignas(64) atomic_int flag; } up[10][1024], down[1024];

__attribute__((noinline)) static void barrier(int id, int sense) {
	int k = 0, d = 1;
	for (; d < P; k++, d *= 2) {
		if (id & d) { /* lost: tell the winner, and wait to be told */
			atomic_store_explicit(&up[k][id - d].flag, sense, memory_order_release);
			while (atomic_load_explicit(&down[id].flag, memory_order_acquire) != sense)
				__builtin_ia32_pause();
			break;
		}
		if (id + d < P)
			while (atomic_load_explicit(&up[k][id].flag, memory_order_acquire) != sense)
				__builtin_ia32_pause();
	}
	for (d /= 2; d > 0; d /= 2)
		if (id + d < P)
			atomic_store_explicit(&down[id + d].flag, sense, memory_order_release);
}

static void *worker(void *arg) {
	long id = (long)arg;
	double x = id;
	for (int sense = 1; sense <= 8; sense++) {
		int n = 2000 + (int)(id * 7 % 10) * 1000;
		for (int i = 0; i < n; i++) /* CAUSE */
			x = x * 0.999 + i;
		out[id] = x;
		barrier((int)id, sense); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t t[1024];
	for (long i = 1; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker(0);
	for (int i = 1; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", out[0]);
	return 0;
}
