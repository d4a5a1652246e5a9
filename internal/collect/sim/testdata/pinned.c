/* Threads run where the program lets them run, whoever says so and whenever; two that share
   a core take twice as long. Prints nothing but what went wrong. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_barrier_t all;
static int wrong;
static volatile int stop;

static void pin(pthread_t t, int core) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	if (pthread_setaffinity_np(t, sizeof set, &set))
		printf("no affinity\n"), wrong = 1;
}

static void check(int core) {
	if (sched_getcpu() != core)
		printf("on core %d, not %d\n", sched_getcpu(), core), wrong = 1;
}

static void *worker(void *arg) {
	int core = (int)(long)arg % 3;
	pin(pthread_self(), core);
	for (int i = 0; i < 40; i++) {
		check(core);
		for (volatile long k = 0; k < 3000; k++)
			;
		if (i % 4 == 0)
			usleep(1);
		if (i % 8 == 1)
			pthread_barrier_wait(&all);
		if (i == 20)
			pin(pthread_self(), core = (core + 1) % 3);
	}
	return 0;
}

static double at(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void *busy(void *arg) {
	for (volatile long k = 0; k < 1000000; k++)
		;
	return 0;
}

static void *spin(void *arg) {
	volatile long n = 0;
	while (!stop)
		n++;
	return 0;
}

/* two takes the time that two threads need, on cores a and b. */
static double two(int a, int b) {
	pthread_t t[2];
	double from = at();
	for (int i = 0; i < 2; i++) {
		pthread_create(&t[i], 0, busy, 0);
		pin(t[i], i ? b : a);
	}
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return at() - from;
}

int main(void) {
	pthread_t t[7], s[2];
	pthread_barrier_init(&all, 0, 7);
	for (long i = 0; i < 7; i++)
		pthread_create(&t[i], 0, worker, (void *)i);
	for (int i = 0; i < 7; i++)
		pthread_join(t[i], 0);
	double ratio = two(0, 0) / two(0, 1);
	if (ratio < 1.8 || ratio > 2.2)
		printf("on one core %.2f times as long\n", ratio), wrong = 1;
	/* core 0 is taken and who waits for it is sent to another */
	pin(pthread_self(), 0);
	pthread_create(&s[0], 0, spin, 0);
	pthread_create(&s[1], 0, busy, 0);
	pin(s[1], 2);
	pthread_join(s[1], 0);
	stop = 1;
	pthread_join(s[0], 0);
	return wrong;
}
