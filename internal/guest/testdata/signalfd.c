// Signals as files, signals that wait although nobody handles them, and threads'
// names through /proc.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fd;
static sigset_t set;
static pthread_barrier_t both;

static void show(const char *what) {
	struct signalfd_siginfo si[4];
	long n = read(fd, si, sizeof si);
	if (n < 0)
		printf("%s: %s\n", what, strerror(errno));
	for (int i = 0; i < n / (long)sizeof si[0]; i++)
		printf("%s: signal %u code %d value %d status %d own %d\n", what, si[i].ssi_signo, si[i].ssi_code, si[i].ssi_int, si[i].ssi_status,
		       si[i].ssi_pid == (unsigned)getpid());
}

static void *reader(void *p) {
	show("thread");
	return 0;
}

static void *named(void *p) {
	pthread_setname_np(pthread_self(), "a-worker");
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);
	char name[32];
	pthread_getname_np(pthread_self(), name, sizeof name);
	printf("now %s\n", name);
	return 0;
}

static void names(void) {
	pthread_t t;
	char name[64] = "";
	pthread_barrier_init(&both, 0, 2);
	pthread_create(&t, 0, named, 0);
	pthread_barrier_wait(&both);
	pthread_getname_np(t, name, sizeof name);
	printf("its name %s\n", name);
	pthread_setname_np(t, "another");
	pthread_barrier_wait(&both);
	pthread_join(t, 0);
	for (int i = 0; i < 2; i++) {
		FILE *f = fopen(i ? "/proc/thread-self/comm" : "/proc/self/comm", "r");
		if (f && fgets(name, sizeof name, f))
			printf("main %s", name);
		fclose(f);
	}
}

int main(void) {
	setvbuf(stdout, 0, _IONBF, 0);
	pthread_t t;
	union sigval v = {.sival_int = 77};
	sigemptyset(&set);
	for (int i = 0; i < 4; i++)
		sigaddset(&set, (int[]){SIGUSR1, SIGALRM, SIGCHLD, SIGRTMIN}[i]);
	pthread_sigmask(SIG_BLOCK, &set, 0);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	pthread_create(&t, 0, reader, 0);
	usleep(1000);
	sigqueue(getpid(), SIGUSR1, v);
	pthread_join(t, 0);

	struct pollfd pf = {fd, POLLIN, 0};
	struct epoll_event ev = {.events = EPOLLIN}, got;
	int ep = epoll_create1(0);
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
	printf("poll %d", poll(&pf, 1, 1));
	raise(SIGUSR1);
	printf(" then %d, epoll %d\n", poll(&pf, 1, 100), epoll_wait(ep, &got, 1, 0));
	show("raised");
	sigqueue(getpid(), SIGRTMIN, v);
	v.sival_int++;
	sigqueue(getpid(), SIGRTMIN, v);
	kill(getpid(), SIGUSR1);
	show("three");
	alarm(1);
	printf("epoll %d\n", epoll_wait(ep, &got, 1, -1));
	show("alarm");
	timer_t tm;
	struct sigevent se = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 5};
	struct itimerspec its = {{0, 0}, {0, 1000000}};
	timer_create(CLOCK_MONOTONIC, &se, &tm);
	timer_settime(tm, 0, &its, 0);
	show("timer");

	if (fork() == 0)
		_exit(6);
	show("child");
	int status;
	wait(&status);
	printf("status %d\n", WEXITSTATUS(status));
	close(ep);
	close(fd);
	if (fork() == 0)
		_exit(7);
	waitpid(-1, &status, 0);
	siginfo_t si;
	printf("SIGCHLD waits: %d\n", sigwaitinfo(&set, &si) == SIGCHLD);

	sigdelset(&set, SIGUSR1);
	fd = signalfd(-1, &set, SFD_NONBLOCK);
	show("nothing");
	raise(SIGUSR1);
	show("not in the set");
	sigaddset(&set, SIGUSR1);
	printf("changed %d\n", signalfd(fd, &set, 0) == fd);
	show("in the set");
	printf("no such file: %d\n", signalfd(0, &set, 0));
	names();
	int was = nice(0); /* the test itself may have been started by nice(1) */
	printf("nice %d\n", nice(3) == (was > 16 ? 19 : was + 3));
	setpriority(PRIO_PROCESS, 0, 19);
	printf("priority %d\n", getpriority(PRIO_PROCESS, 0));
	return 0;
}
