/* Test-and-test-and-set lock with back-off, taken once a round; the loops in front of it are uneven. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
static int P;
static atomic_int held;
static long total;
static pthread_barrier_t bar;
static void lock(void) {
	for (;;) {
		while (atomic_load_explicit(&held, memory_order_relaxed)) __builtin_ia32_pause();
		if (!atomic_exchange(&held, 1)) return;
		for (volatile int i = 0; i < 10; i++) ;
	}
}
static void *worker(void *a) {
	long id = (long)a, x = id;
	for (int r = 0; r < 5; r++) {
		int n = 1000 + (id % 4 == 3) * 3000;
		for (int i = 0; i < n; i++) /* CAUSE */
			x = x * 31 + i;
		lock();
		total += x & 1;
		atomic_store(&held, 0);
		pthread_barrier_wait(&bar); /* END */
	}
	return 0;
}
int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t t[256];
	pthread_barrier_init(&bar, 0, P);
	for (long i = 0; i < P; i++) pthread_create(&t[i], 0, worker, (void *)i);
	for (int i = 0; i < P; i++) pthread_join(t[i], 0);
	printf("%d\n", total > -1);
}
