// Two threads fight over a slot of the first one's stack, just below its control block, and then over its thread-local data.
#include <pthread.h>
#include <stdio.h>

static __thread long mine;
static long *volatile slot, *volatile local;
static pthread_barrier_t bar;

static void __attribute__((noinline)) fight(long *at) {
	for (int i = 0; i < 20000; i++)
		__atomic_fetch_add(at, 1, __ATOMIC_RELAXED);
}

static void __attribute__((noinline)) fightLocal(long *at) {
	for (int i = 0; i < 21000; i++)
		__atomic_fetch_add(at, 1, __ATOMIC_RELAXED);
}

static void *worker(void *first) {
	long own = 0;
	if (first)
		slot = &own, local = &mine;
	pthread_barrier_wait(&bar);
	fight(slot);
	fightLocal(local);
	pthread_barrier_wait(&bar);
	return 0;
}

int main(void) {
	pthread_t a, b;
	pthread_barrier_init(&bar, 0, 2);
	pthread_create(&a, 0, worker, "");
	pthread_create(&b, 0, worker, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
