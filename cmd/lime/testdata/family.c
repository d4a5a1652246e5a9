// Starts programs in every way that there is, and says how they ended.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void ended(const char *what, pid_t p) {
	int st;
	if (waitpid(p, &st, 0) != p)
		printf("%s: not found\n", what);
	else
		printf("%s: %x\n", what, st);
}

static void *work(void *arg) {
	volatile long n = (long)arg;
	while (n--)
		;
	return 0;
}

// A program of several threads: what there is to be seen in its own profile.
static int threads(void) {
	pthread_t t[3];
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], 0, work, (void *)(10000 * (i + 1)));
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 3;
}

int main(int argc, char **argv) {
	if (argc > 1)
		return strcmp(argv[1], "threads") ? (printf("%s %s\n", argv[1], getenv("SAYS")), 0) : threads();
	setvbuf(stdout, 0, _IOLBF, 0);
	char *self = realpath("/proc/self/exe", 0), *says[] = {"family", "spawned", 0}, *threaded[] = {"family", "threads", 0};
	setenv("SAYS", "hello", 1);
	pid_t p;
	int e = posix_spawn(&p, self, 0, 0, says, environ);
	ended("posix_spawn", p);
	printf("posix_spawn: %d\n", e);
	e = posix_spawnp(&p, "no such program", 0, 0, says, environ);
	printf("posix_spawn of none: %d\n", e);
	if (!(p = vfork())) {
		execve(self, threaded, environ);
		_exit(9);
	}
	ended("vfork", p);
	if (!(p = fork())) {
		execlp("no such program", "none", (char *)0);
		_exit(9);
	}
	ended("execlp of none", p);
	if (!(p = fork())) {
		if (!(p = fork()))
			_exit(WEXITSTATUS(system("echo deep; exit 5")));
		ended("grandchild", p);
		_exit(6);
	}
	ended("child", p);
	printf("system: %x\n", system("kill -9 $$"));
	FILE *f = popen("cat", "w");
	fputs("through a pipe\n", f);
	pclose(f);
	if (!(p = fork())) {
		execlp("sleep", "sleep", "1000", (char *)0);
		_exit(9);
	}
	kill(p, SIGTERM);
	ended("killed", p);
	return 8;
}
