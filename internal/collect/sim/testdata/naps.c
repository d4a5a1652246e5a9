// A thread sleeps for 3 microseconds again and again, and prints how long it slept at most, beside
// one that computes.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static volatile int done;

static void *work(void *x)
{
	for (long i = 0; !done; i++)
		*(volatile long *)x += i;
	return 0;
}

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

int main(void)
{
	static long sum;
	long most = 0;
	pthread_t t;
	pthread_create(&t, 0, work, &sum);
	for (int i = 0; i < 100; i++) {
		long from = now();
		nanosleep(&(struct timespec){0, 3000}, 0);
		if (now() - from > most)
			most = now() - from;
	}
	done = 1;
	pthread_join(t, 0);
	printf("%ld\n", most);
}
