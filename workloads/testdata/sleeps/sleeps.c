// Threads that sleep, each way of it: built with -DWAIT='a statement'. With -DONE only thread 0
// does, and the others wait for it at the barrier.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 6 };
static pthread_barrier_t bar;
static unsigned sink[8][16];

static void work(int id, int n)
{
	for (int i = 0; i < n; i++)
		sink[id][0] = sink[id][0] * 1664525u + i;
}

static void *thread(void *arg)
{
	int id = (int)(intptr_t)arg, fd = timerfd_create(CLOCK_MONOTONIC, 0), ends[2];
	struct timespec ms = {0, 1000000};
	struct itimerspec each = {{0, 1000000}, {0, 1000000}};
	uint64_t ticks;
	timerfd_settime(fd, 0, &each, NULL);
	if (pipe(ends))
		abort();
	struct pollfd nothing = {ends[0], POLLIN, 0};
	(void)ms, (void)ticks, (void)nothing;
	for (int k = 0; k < ROUNDS; k++) {
		work(id, 2000);
#ifdef ONE
		if (id == 0)
#endif
			WAIT; /* HERE */
		pthread_barrier_wait(&bar);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[8];
	pthread_barrier_init(&bar, NULL, 8);
	for (intptr_t i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, thread, (void *)i);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}
