/* Threads in all kinds of waits that the host or the clock ends: rest THREADS ROUNDS. A byte goes round a ring of pipes; each thread
 * waits for it by read, poll, select or epoll, and then sleeps, or waits for a condition until time is up. Timers send signals all the
 * while. Exits with 0 if the byte came round as often as it should and no wait ended too early. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int threads, rounds, ring[256][2];
static volatile int alarms;
static void on_alarm(int s) { alarms++; }

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void ready(int fd, int how, int ep)
{
	struct pollfd p = {fd, POLLIN, 0};
	struct epoll_event e;
	fd_set s;
	switch (how) {
	case 0:
		while (poll(&p, 1, -1) != 1)
			;
		break;
	case 1:
		do {
			FD_ZERO(&s);
			FD_SET(fd, &s);
		} while (select(fd + 1, &s, 0, 0, 0) != 1);
		break;
	case 2:
		while (epoll_wait(ep, &e, 1, 10000) != 1)
			;
	}
}

static void *work(void *arg)
{
	long id = (long)arg;
	int fd = ring[id][0], ep = epoll_create1(0);
	struct epoll_event e = {.events = EPOLLIN};
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	for (int r = 0; r < rounds; r++) {
		char b;
		ready(fd, (id + r) % 4, ep); /* 3: read itself waits */
		while (read(fd, &b, 1) != 1)
			if (errno != EINTR)
				exit(3);
		double began = now();
		struct timespec t = {0, 20000};
		if (r % 2) {
			while (nanosleep(&t, &t))
				;
		} else {
			clock_gettime(CLOCK_REALTIME, &t);
			t.tv_nsec += 20000;
			t.tv_sec += t.tv_nsec / 1000000000;
			t.tv_nsec %= 1000000000;
			pthread_mutex_lock(&m);
			while (pthread_cond_timedwait(&c, &m, &t) != ETIMEDOUT)
				;
			pthread_mutex_unlock(&m);
		}
		if (now() - began < 19e-6)
			exit(4);
		b++;
		if (write(ring[(id + 1) % threads][1], &b, 1) != 1)
			exit(5);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	threads = atoi(argv[1]);
	rounds = atoi(argv[2]);
	pthread_t t[256];
	struct sigaction a = {.sa_handler = on_alarm};
	sigaction(SIGALRM, &a, 0);
	struct itimerval every = {{0, 500}, {0, 500}};
	setitimer(ITIMER_REAL, &every, 0);
	for (long i = 0; i < threads; i++)
		if (pipe(ring[i]))
			return 2;
	for (long i = 0; i < threads; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	char b = 0;
	if (write(ring[0][1], &b, 1) != 1)
		return 2;
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], 0);
	if (read(ring[0][0], &b, 1) != 1 || b != (char)(threads * rounds))
		return 6;
	if (!alarms)
		return 7;
	puts("round");
	return 0;
}
