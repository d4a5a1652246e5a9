/* A sense-reversing barrier that spins. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int P;
static double out[1024];
static volatile int count, sense;

__attribute__((noinline)) static void barrier_wait(int *mine) {
	*mine = !*mine;
	if (__atomic_add_fetch(&count, 1, __ATOMIC_ACQ_REL) == P) {
		count = 0;
		__atomic_store_n(&sense, *mine, __ATOMIC_RELEASE);
	} else {
		while (__atomic_load_n(&sense, __ATOMIC_ACQUIRE) != *mine)
			__builtin_ia32_pause();
	}
}

static void *worker(void *arg) {
	long id = (long)arg;
	double x = 0;
	int mine = 0;
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 5000; i++)
			x = x * 0.99 + i;
		barrier_wait(&mine);
		int n = 2000 + (int)(id * 7 % 10) * 2000;
		for (int i = 0; i < n; i++) /* CAUSE */
			x = x * 0.999 + i;
		out[id] = x;
		barrier_wait(&mine); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", out[0]);
	return 0;
}
