// Threads that let time pass, each in its own manner, and say how often they looked.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

enum { PASS = 10000000 }; // nanoseconds, and ticks of the time stamp counter

static long nanos(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *yields(void *looks)
{
	for (unsigned long from = __rdtsc(); __rdtsc() - from < PASS; ++*(long *)looks)
		sched_yield();
	return 0;
}

static void *reads_clock(void *looks)
{
	for (long from = nanos(CLOCK_MONOTONIC); nanos(CLOCK_MONOTONIC) - from < PASS; ++*(long *)looks)
		;
	return 0;
}

static void *reads_counter(void *looks)
{
	for (unsigned long from = __rdtsc(); __rdtsc() - from < PASS; ++*(long *)looks)
		;
	return 0;
}

static void *sleeps(void *looks)
{
	struct timespec t = {0, 0};
	for (long from = nanos(CLOCK_MONOTONIC); nanos(CLOCK_MONOTONIC) - from < PASS; ++*(long *)looks)
		nanosleep(&t, 0);
	return 0;
}

int main(void)
{
	void *(*ways[])(void *) = {yields, reads_clock, reads_counter, sleeps};
	enum { N = sizeof ways / sizeof *ways };
	long looks[2][N] = {{0}};
	for (int i = 0; i < N; i++) // alone
		ways[i](&looks[0][i]);
	pthread_t t[N];
	for (int i = 0; i < N; i++) // all at once
		pthread_create(&t[i], 0, ways[i], &looks[1][i]);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], 0);
	for (int i = 0; i < 2 * N; i++)
		fprintf(stderr, "looked %ld\n", looks[i / N][i % N]);

	return 0;
}
