#include "common.h"
static volatile unsigned next, serving;
static pthread_barrier_t bar;

__attribute__((noinline)) static void lock(void) {
	unsigned t = __sync_fetch_and_add(&next, 1);
	while (serving != t)
		__builtin_ia32_pause();
}

static void *worker(void *arg) {
	for (int k = 0; k < 4; k++) {
		work((long)arg, 10000);
		lock();
		work(P, 3000);
		serving++;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(void) {
	pthread_barrier_init(&bar, NULL, P);
	return run_all();
}
