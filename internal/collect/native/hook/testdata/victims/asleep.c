// All threads wait in system calls: for a time, for input, for each other.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile int stop;
static int pipes[2];
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cv = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t bar;
static void fail(const char *what, long got) { fprintf(stderr, "%s: %ld, %d\n", what, got, errno); _exit(3); }
static long since(struct timespec *a) {
	struct timespec b;
	clock_gettime(CLOCK_MONOTONIC, &b);
	return (b.tv_sec - a->tv_sec) * 1000000000l + b.tv_nsec - a->tv_nsec;
}
static void *nap(void *arg) {
	while (!stop) {
		struct timespec a, t = {0, 30000000};
		clock_gettime(CLOCK_MONOTONIC, &a);
		int r = nanosleep(&t, 0);
		if (r || since(&a) < 30000000) fail("nanosleep", r);
	}
	return arg;
}
static void *wait_poll(void *arg) {
	while (!stop) { int r = poll(0, 0, 30); if (r) fail("poll", r); }
	return arg;
}
static void *wait_cond(void *arg) {
	while (!stop) {
		struct timespec t;
		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += 30000000;
		if (t.tv_nsec >= 1000000000) { t.tv_nsec -= 1000000000; t.tv_sec++; }
		pthread_mutex_lock(&mu);
		int r = pthread_cond_timedwait(&cv, &mu, &t);
		pthread_mutex_unlock(&mu);
		if (r != ETIMEDOUT) fail("cond_timedwait", r);
	}
	return arg;
}
static void *wait_pipe(void *arg) {
	char c;
	ssize_t r = read(pipes[0], &c, 1);
	if (r != 1) fail("pipe", r);
	pthread_barrier_wait(&bar);
	return arg;
}
int main(void) {
	void *(*work[])(void *) = {nap, wait_poll, wait_cond, wait_pipe};
	pthread_t t[4];
	char c;
	if (pipe(pipes)) return 1;
	pthread_barrier_init(&bar, 0, 2);
	for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work[i], 0);
	usleep(1000);
	if (write(1, "x", 1) != 1) return 1;
	ssize_t n = read(0, &c, 1);
	if (n != 0) fail("read", n);
	stop = 1;
	if (write(pipes[1], "x", 1) != 1) return 1;
	pthread_barrier_wait(&bar);
	for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
	if (write(1, "done", 4) != 4) return 1;
	return 7;
}
