// Threads that count, meet at a barrier, take a lock and sleep, while a timer interrupts them.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static pthread_barrier_t bar;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop, last;
static volatile long ticks, shared;
static double lanes[4] = {1, 2, 3, 4};
static void on(int s) { ticks++; }
static uint64_t piece(void) { /* integers, vectors, and flags that live across instructions */
	uint64_t h = 1469598103934665603u;
	double a[4], m[4] = {1.0000001, 1.0000002, 1.0000003, 1.0000004};
	for (int i = 0; i < 4; i++) a[i] = lanes[i];
	for (int i = 0; i < 4000; i++) {
		h = (h ^ i) * 1099511628211u + __builtin_popcountl(h);
		for (int k = 0; k < 4; k++) a[k] = a[k] * m[k] + 1e-9;
	}
	for (int i = 0; i < 4; i++) h ^= (uint64_t)(a[i] * 1e12);
	return h;
}
static void *work(void *arg) {
	uint64_t want = *(uint64_t *)arg;
	for (;;) {
		if (piece() != want) { fprintf(stderr, "wrong sum\n"); _exit(3); }
		pthread_mutex_lock(&mu);
		shared++;
		pthread_mutex_unlock(&mu);
		if (pthread_barrier_wait(&bar) == PTHREAD_BARRIER_SERIAL_THREAD) last = stop;
		pthread_barrier_wait(&bar);
		if (last) return arg;
	}
}
static void *nap(void *arg) {
	while (!stop) {
		struct timespec t = {0, 3000000};
		if (nanosleep(&t, 0)) { fprintf(stderr, "sleep: %d\n", errno); _exit(4); }
	}
	return arg;
}
int main(void) {
	static uint64_t want;
	pthread_t t[3];
	char c;
	sigset_t set;
	struct sigaction sa = {.sa_handler = on, .sa_flags = SA_RESTART};
	struct itimerval it = {{0, 2000}, {0, 2000}};
	want = piece();
	sigaction(SIGALRM, &sa, 0);
	pthread_barrier_init(&bar, 0, 2);
	for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, &want);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, 0);
	pthread_create(&t[2], 0, nap, 0);
	setitimer(ITIMER_REAL, &it, 0);
	if (write(1, "x", 1) != 1) return 1;
	ssize_t n = read(0, &c, 1);
	if (n != 0) { fprintf(stderr, "read: %ld, %d\n", (long)n, errno); return 2; }
	stop = 1;
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	if (shared % 2 != 0) return 5;
	if (write(1, "done", 4) != 4) return 1;
	return 7;
}
