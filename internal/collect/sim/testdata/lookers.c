// One thread works, in steps between which it waits until the other one has looked whether it is ready.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
static volatile int ready;
static volatile long looks;
static void *looker(void *p)
{
	while (!ready) {
		looks++;
		sched_yield();
	}
	return p;
}
static void *worker(void *p)
{
	long x = 1;
	for (int step = 0; step < 20; step++) {
		for (long i = 0; i < 100000; i++) {
			x = x * 31 + i;
			__asm__ volatile("" : "+r"(x));
		}
		for (long seen = looks; looks == seen;)
			sched_yield();
	}
	ready = 1;
	return (void *)(x & 1);
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, looker, 0);
	pthread_create(&b, 0, worker, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	puts("done");
}
