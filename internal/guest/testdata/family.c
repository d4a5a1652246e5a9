/* A parent, its children and their ids: whatever one learns about the other must be true for it. */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t me, child;
static volatile sig_atomic_t got[65];
static volatile pid_t sender[65];
static volatile int value[65];

static void on(int s, siginfo_t *i, void *u)
{
	(void)u;
	got[s]++;
	sender[s] = i->si_pid;
	value[s] = i->si_value.sival_int;
}

static void handle(int s)
{
	struct sigaction a = {.sa_sigaction = on, .sa_flags = SA_SIGINFO};
	sigaction(s, &a, 0);
}

static const char *who(pid_t p) { return p == me ? "parent" : p == child ? "child" : p == 0 ? "nobody" : "a stranger"; }

static void await(int s)
{
	for (int i = 0; i < 100000 && !got[s]; i++)
		usleep(1000);
	printf("signal %d: %s\n", s, got[s] ? "came" : "lost");
}

static int reap(pid_t p)
{
	int st = 0;
	while (waitpid(p, &st, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFSIGNALED(st) ? 1000 + WTERMSIG(st) : WEXITSTATUS(st);
}

static pid_t run(int (*body)(void))
{
	pid_t p = fork();
	if (p == 0) {
		child = getpid();
		_exit(body());
	}
	return p;
}

static int signals_parent(void) { return kill(me, SIGUSR1) == 0 && getppid() == me && kill(getppid(), SIGUSR2) == 0 ? 0 : 1; }

static int waits(void)
{
	for (;;)
		pause();
	return 0;
}

static void signals(void)
{
	handle(SIGUSR1);
	handle(SIGUSR2);
	child = run(signals_parent);
	await(SIGUSR1);
	await(SIGUSR2);
	printf("status %d\n", reap(child));
	child = run(waits);
	printf("kill %d\n", kill(child, SIGTERM));
	printf("status %d\n", reap(child));
	int r = kill(child, 0);
	printf("gone: kill %d %s\n", r, strerror(errno));
	printf("own ids: %d %d %d\n", getpid() == me, (pid_t)syscall(SYS_gettid) == me, kill(me, 0));
	r = syscall(SYS_tgkill, 1, me, SIGUSR1);
	printf("tgkill of a stranger: %d %s\n", r, strerror(errno));
}

static int reads_pid_file(void)
{
	FILE *f = fopen("/tmp/family.pid", "r");
	int pid = 0;
	return f && fscanf(f, "%d", &pid) == 1 && kill(pid, SIGHUP) == 0 ? 0 : 1;
}

static int looks_into_proc(void)
{
	char path[64], line[256];
	snprintf(path, sizeof path, "/proc/%d/cmdline", me);
	FILE *f = fopen(path, "r");
	return f && fgets(line, sizeof line, f) && getpgid(me) > 0 && getsid(me) > 0 ? 0 : 1;
}

static void names(void)
{
	handle(SIGHUP);
	FILE *f = fopen("/tmp/family.pid", "w");
	fprintf(f, "%d\n", getpid());
	fclose(f);
	printf("pid file: %d\n", reap(run(reads_pid_file)));
	await(SIGHUP);
	unlink("/tmp/family.pid");
	printf("/proc: %d\n", reap(run(looks_into_proc)));
	char path[64], line[256] = "";
	snprintf(path, sizeof path, "/proc/%d/stat", me);
	f = fopen(path, "r");
	printf("own stat: %d\n", f && fgets(line, sizeof line, f) && atoi(line) == me);
	if (f)
		fclose(f);
	ssize_t n = readlink("/proc/self", line, sizeof line - 1);
	line[n > 0 ? n : 0] = 0;
	printf("/proc/self: %d\n", atoi(line) == me);
	snprintf(line, sizeof line, "/proc/%d", me);
	printf("/proc/ID: %d %d\n", (int)readlink(line, line, sizeof line), realpath("/proc/self/exe", 0) != 0);
}

static int lock_fd;

static int asks_for_lock(void)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	if (fcntl(lock_fd, F_GETLK, &l) != 0)
		return 2;
	return l.l_type == F_WRLCK && l.l_pid == me ? 0 : 1;
}

static int holds_lock(void)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	fcntl(lock_fd, F_SETLKW, &l);
	kill(me, SIGUSR1);
	return waits();
}

static void locks(void)
{
	lock_fd = open("/tmp/family.lock", O_CREAT | O_RDWR, 0600);
	unlink("/tmp/family.lock");
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	printf("lock %d\n", fcntl(lock_fd, F_SETLK, &l));
	printf("child sees the owner: %d\n", reap(run(asks_for_lock)));
	l.l_type = F_UNLCK;
	fcntl(lock_fd, F_SETLK, &l);
	got[SIGUSR1] = 0;
	child = run(holds_lock);
	await(SIGUSR1);
	l.l_type = F_WRLCK;
	int r = fcntl(lock_fd, F_GETLK, &l);
	printf("parent sees the owner: %d %s\n", r, who(l.l_pid));
	kill(child, SIGKILL);
	printf("status %d\n", reap(child));
}

static int pair[2];

static int sends_credentials(void) { return write(pair[1], "x", 1) == 1 ? 0 : 1; }

static void credentials(void)
{
	int on = 1;
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
	struct ucred peer;
	socklen_t n = sizeof peer;
	getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, &peer, &n);
	printf("peer: %s\n", who(peer.pid));
	for (int own = 0; own < 2; own++) {
		if (own)
			printf("wrote %zd\n", write(pair[1], "y", 1));
		else
			child = run(sends_credentials);
		char buf[8];
		union {
			char b[CMSG_SPACE(sizeof(struct ucred))];
			struct cmsghdr align;
		} u;
		struct iovec v = {buf, sizeof buf};
		struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = u.b, .msg_controllen = sizeof u.b};
		ssize_t r;
		while ((r = recvmsg(pair[0], &m, 0)) < 0 && errno == EINTR)
			;
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		printf("received %zd from %s\n", r, c ? who(((struct ucred *)CMSG_DATA(c))->pid) : "nobody");
		if (!own)
			printf("status %d\n", reap(child));
	}
}

static void of_children(void)
{
	handle(SIGCHLD);
	got[SIGCHLD] = 0;
	int p[2];
	if (pipe(p))
		return;
	child = fork();
	if (child == 0) {
		char c;
		_exit(read(p[0], &c, 1) == 1 ? 9 : 1);
	}
	printf("wrote %zd\n", write(p[1], "", 1));
	await(SIGCHLD);
	printf("SIGCHLD of %s\n", who(sender[SIGCHLD]));
	siginfo_t i = {0};
	int w = waitid(P_PID, child, &i, WEXITED);
	printf("waitid %d: %s, status %d\n", w, who(i.si_pid), i.si_status);

	child = run(waits);
	int fd = syscall(SYS_pidfd_open, child, 0);
	printf("pidfd of a child: %d\n", fd >= 0);
	syscall(SYS_pidfd_send_signal, fd, SIGKILL, 0, 0);
	struct pollfd f = {fd, POLLIN, 0};
	while (poll(&f, 1, 5000) < 0 && errno == EINTR)
		;
	printf("ended: %d, status %d\n", f.revents == POLLIN, reap(child));
	close(fd);
	fd = syscall(SYS_pidfd_open, getpid(), 0);
	printf("pidfd of its own: %d\n", fd >= 0);
	close(fd);

	child = run(waits);
	kill(child, SIGSTOP);
	int st = 0;
	pid_t r;
	while ((r = waitpid(child, &st, WUNTRACED)) < 0 && errno == EINTR)
		;
	printf("stopped: %s %d\n", who(r), WIFSTOPPED(st) && WSTOPSIG(st) == SIGSTOP);
	kill(child, SIGCONT);
	while ((r = waitpid(child, &st, WCONTINUED)) < 0 && errno == EINTR)
		;
	printf("continued: %s %d\n", who(r), WIFCONTINUED(st));
	kill(child, SIGKILL);
	printf("status %d\n", reap(child));

	signal(SIGCHLD, SIG_IGN);
	child = run(sends_credentials);
	r = wait(0);
	printf("nobody to wait for: %d %s\n", r, strerror(errno));
	int seen = 0;
	for (int i = 0; i < 100; i++) { /* they end while they are waited for, or before */
		child = run(sends_credentials);
		for (volatile int k = 0; k < i * 5000; k++)
			;
		seen += i % 2 ? waitpid(child, &st, 0) != -1 : waitid(P_ALL, 0, 0, WEXITED) == 0;
		if (i % 3 == 0)
			seen += wait(0) != -1;
	}
	printf("ends that one does not want to hear of: %d\n", seen);
	signal(SIGCHLD, SIG_DFL);
}

static void queued(void)
{
	handle(SIGRTMIN);
	union sigval v = {.sival_int = 42};
	int none = sigqueue(getpid(), 0, v), one = sigqueue(getpid(), SIGRTMIN, v);
	printf("sigqueue %d %d %d\n", none, one, value[SIGRTMIN]);
	printf("of %s\n", who(sender[SIGRTMIN]));
	child = run(waits);
	none = sigqueue(child, 0, v);
	one = sigqueue(child, SIGTERM, v);
	printf("child: %d %d, status %d\n", none, one, reap(child));

	char buf[6] = "hello";
	int fd = open("/tmp/family.aio", O_CREAT | O_RDWR, 0600);
	unlink("/tmp/family.aio");
	struct aiocb cb = {.aio_fildes = fd, .aio_buf = buf, .aio_nbytes = 5};
	cb.aio_sigevent.sigev_notify = SIGEV_SIGNAL;
	cb.aio_sigevent.sigev_signo = SIGUSR2;
	got[SIGUSR2] = 0;
	printf("aio_write %d\n", aio_write(&cb));
	const struct aiocb *list[] = {&cb};
	while (aio_error(&cb) == EINPROGRESS)
		aio_suspend(list, 1, 0);
	printf("wrote %zd\n", aio_return(&cb));
	await(SIGUSR2);
}

static int dies_with_parent(void)
{
	int s = 0;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_GET_PDEATHSIG, &s);
	return s == SIGTERM ? 0 : 1;
}

static int is_traced(void)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	return 3;
}

static void others(void)
{
	int s = 0;
	printf("PDEATHSIG of a child: %d\n", reap(run(dies_with_parent)));
	prctl(PR_SET_PDEATHSIG, SIGHUP);
	prctl(PR_GET_PDEATHSIG, &s);
	printf("PDEATHSIG: %d\n", s == SIGHUP);
	prctl(PR_SET_PDEATHSIG, 0);
	child = run(is_traced);
	int st = 0;
	pid_t r = waitpid(child, &st, 0);
	printf("traced: %s %d\n", who(r), WIFSTOPPED(st));
	long n = 0;
	while (ptrace(PTRACE_SYSCALL, child, 0, 0) == 0 && waitpid(child, &st, 0) == child && WIFSTOPPED(st))
		n++;
	printf("steps: %d, status %d\n", n > 0, WIFEXITED(st) ? WEXITSTATUS(st) : -1);
	printf("group: %d, session: %d\n", getpgid(0) == getpgrp(), getsid(0) == getsid(me));
}

int main(void)
{
	setvbuf(stdout, 0, _IONBF, 0);
	me = getpid();
	signals();
	names();
	locks();
	credentials();
	of_children();
	queued();
	others();
	return 0;
}
