/* What programs do that make measuring hard; the first argument says which. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sink;
static volatile int profs, traps;
static pthread_barrier_t bar;

static void spin(long n) {
	for (long i = 0; i < n; i++)
		sink += i;
}

static void *work(void *a) {
	for (int i = 0; i < 3; i++) {
		spin(1000 * ((long)a + 1));
		pthread_barrier_wait(&bar);
	}
	return a;
}

static void team(int n) {
	pthread_t t[n];
	pthread_attr_t at;
	pthread_attr_init(&at);
	pthread_attr_setstacksize(&at, 65536);
	pthread_barrier_init(&bar, 0, n);
	for (long i = 0; i < n; i++)
		if (pthread_create(&t[i], &at, work, (void *)(i % 8)))
			_exit(99);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], 0);
}

static void onprof(int s) { profs++; }
static void ontrap(int s) { traps++; }

int main(int argc, char **argv) {
	const char *what = argv[1];
	team(2);
	if (!strcmp(what, "fork")) {
		pid_t p = fork();
		int st;
		if (!p)
			_exit(3);
		waitpid(p, &st, 0);
		return WEXITSTATUS(st);
	}
	if (!strcmp(what, "exec"))
		execl("/proc/self/exe", argv[0], "end", (char *)0);
	if (!strcmp(what, "setuid")) {
		if (getuid() == 0 && (setgid(65534) || setuid(65534)))
			return 1;
		team(2);
		return 4;
	}
	if (!strcmp(what, "crash"))
		*(volatile int *)0 = 1;
	if (!strcmp(what, "close")) {
		for (int i = 0; i < 4096; i++)
			close(i);
		team(2);
		return 7;
	}
	if (!strcmp(what, "signals")) {
		struct itimerval it = {{0, 1000}, {0, 1000}};
		signal(SIGPROF, onprof);
		signal(SIGTRAP, ontrap);
		setitimer(ITIMER_PROF, &it, 0);
		__asm__ volatile("int3");
		raise(SIGTRAP);
		while (profs < 2)
			spin(1000);
		return traps == 2 ? 6 : 1;
	}
	if (!strcmp(what, "threads")) {
		team(1000);
		return 8;
	}
	return 5;
}
