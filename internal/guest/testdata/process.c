// Child processes: fork with and without exec, vfork, posix_spawn, system, popen,
// pipes to and from them, waiting, and a fork from a process with threads.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int chld;
static void on_chld(int s) { chld++; }
static void *spin(void *p) {
	int *fd = p;
	char c;
	return (void *)read(fd[0], &c, 1);
}

static void report(const char *what, int st) {
	if (WIFSIGNALED(st))
		printf("%s: signal %d\n", what, WTERMSIG(st));
	else
		printf("%s: status %d\n", what, WEXITSTATUS(st));
}

int main(void) {
	setvbuf(stdout, 0, _IONBF, 0);
	volatile long a = 11, b = 22;
	int st, fd[2], up[2];
	signal(SIGCHLD, on_chld);
	pid_t p = fork();
	if (!p) {
		double x = a;
		for (int i = 0; i < 10; i++)
			x = x * 1.5 + b;
		printf("child %.3f parent known %d\n", x, getppid() > 1);
		_exit(5);
	}
	while (waitpid(p, &st, 0) < 0 && errno == EINTR)
		;
	report("fork", st);
	p = fork();
	if (!p)
		abort();
	while (waitpid(p, &st, 0) < 0 && errno == EINTR)
		;
	report("abort", st);
	p = vfork();
	if (!p)
		_exit(7);
	while (waitpid(-1, &st, 0) < 0 && errno == EINTR)
		;
	report("vfork", st);
	printf("locals %ld %ld\n", a, b);
	char *av[] = {"sh", "-c", "echo spawned $X; exit 4", 0};
	setenv("X", "with environment", 1);
	posix_spawn_file_actions_t fa;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, 1, 5);
	posix_spawn(&p, "/bin/sh", &fa, 0, av, environ);
	while (waitpid(p, &st, 0) < 0 && errno == EINTR)
		;
	report("spawn", st);
	report("system", system("exit 3"));
	FILE *f = popen("cat; echo end", "w");
	fprintf(f, "through a pipe\n");
	fflush(f);
	report("popen", pclose(f));
	char line[100] = "";
	f = popen("echo one two", "r");
	if (!fgets(line, sizeof line, f))
		printf("nothing read\n");
	printf("read %s", line);
	pclose(f);

	pthread_t t;
	if (pipe(fd) || pipe(up))
		return 1;
	pthread_create(&t, 0, spin, fd);
	usleep(1000);
	p = fork();
	if (!p) {
		char c = 'x';
		_exit(write(up[1], &c, 1) == 1 && write(fd[1], &c, 1) == 1 ? 0 : 1);
	}
	void *r;
	char c = 0;
	while (read(up[0], &c, 1) < 0 && errno == EINTR)
		;
	pthread_join(t, &r);
	while (waitpid(p, &st, 0) < 0 && errno == EINTR)
		;
	printf("thread read %ld, main %c\n", (long)r, c);
	report("fork with threads", st);
	p = wait(&st); /* before errno is read */
	printf("no more: %d %s\n", p, strerror(errno));
	printf("SIGCHLD came: %d\n", chld > 0);
	execl("/bin/echo", "echo", "replaced", (char *)0);
	return 1;
}
