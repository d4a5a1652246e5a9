#include "common.h"
static volatile int held;
static pthread_barrier_t bar;

__attribute__((noinline)) static void lock(void) {
	while (__sync_lock_test_and_set(&held, 1))
		while (held)
			__builtin_ia32_pause();
}

static void *worker(void *arg) {
	for (int k = 0; k < 4; k++) {
		work((long)arg, 10000);
		lock();
		work(P, 3000);
		__sync_lock_release(&held);
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(void) {
	pthread_barrier_init(&bar, NULL, P);
	return run_all();
}
