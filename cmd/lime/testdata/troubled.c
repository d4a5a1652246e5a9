/* Programs that are in the way of who samples by traps: troubled MODE. Each works for a while and says how it went. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/filter.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
enum { N = 1000 };
static volatile long a[N];
static long work(double seconds) {
	long s = 0;
	for (clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC); clock() < end;)
		for (long k = 0; k < 50; k++)
			for (long i = 0; i < N; i++) a[i] = k, s += a[i];
	return s > 0;
}
static volatile sig_atomic_t traps;
static void trapped(int sig) { traps += sig == SIGTRAP; }
static void handler(void) {
	signal(SIGTRAP, trapped);
	for (int i = 0; i < 50; i++) {
		__asm__ volatile("int3");
		raise(SIGTRAP);
		work(0.002);
	}
	printf("%d traps\n", (int)traps);
}
static void forks(void) {
	int ok = 0;
	for (int i = 0; i < 8; i++) {
		pid_t p = fork();
		if (!p) _exit(work(0.02) ? 7 : 8);
		int st;
		work(0.02);
		ok += waitpid(p, &st, 0) == p && WIFEXITED(st) && WEXITSTATUS(st) == 7;
	}
	printf("%d children\n", ok);
}
static void execs(void) {
	work(0.1);
	fflush(stdout);
	execl("/bin/echo", "echo", "replaced", (char *)0);
}
static void confined(void) {
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {sizeof f / sizeof *f, f};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
	work(0.1);
	long r = syscall(SYS_getppid);
	printf("refused %d\n", r == -1 && errno == EPERM);
}
static void *brief(void *x) {
	volatile long y[8];
	for (int i = 0; i < 2000; i++) y[i % 8] = i;
	return x;
}
static void threads(void) {
	static pthread_t t[1000];
	pthread_attr_t at;
	pthread_attr_init(&at);
	pthread_attr_setstacksize(&at, PTHREAD_STACK_MIN); /* tiny stacks, too */
	int ok = 0;
	for (int i = 0; i < 1000; i++) ok += !pthread_create(&t[i], &at, brief, 0);
	work(0.1);
	for (int i = 0; i < ok; i++) pthread_join(t[i], 0);
	printf("%d threads\n", ok);
}
static void debugged(void) { /* a child that it traces itself */
	pid_t p = fork();
	if (!p) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(work(0.02) ? 5 : 6);
	}
	int st, stops = 0;
	while (waitpid(p, &st, 0) == p && WIFSTOPPED(st)) stops++, ptrace(PTRACE_CONT, p, 0, 0);
	work(0.1);
	printf("%d stops, status %d\n", stops, WEXITSTATUS(st));
}
static void stopped(void) { /* by job control */
	pid_t me = getpid(), p = fork();
	if (!p) {
		for (int i = 0; i < 3; i++) usleep(30000), kill(me, SIGSTOP), usleep(30000), kill(me, SIGCONT);
		_exit(0);
	}
	work(0.2);
	waitpid(p, 0, 0);
	puts("continued");
}
static void dies(void) {
	work(0.05);
	fflush(stdout);
	*(volatile int *)0 = 1;
}
static void demoted(void) { /* gives its rights away, if it has any */
	work(0.05);
	int r = setgid(65534) | setuid(65534);
	work(0.1);
	printf("%d\n", geteuid() == 65534 ? r : 0);
}
static void watches(void) { /* has a debug register of its own */
	static volatile long own;
	struct perf_event_attr at = {.type = PERF_TYPE_BREAKPOINT, .size = sizeof at, .bp_type = HW_BREAKPOINT_W, .bp_addr = (unsigned long)&own,
		.bp_len = 8, .exclude_kernel = 1, .exclude_hv = 1};
	int fd = syscall(SYS_perf_event_open, &at, 0, -1, -1, 0);
	unsigned long long n = 0;
	if (fd < 0) return;
	for (int i = 0; i < 50; i++) own = i, work(0.002);
	if (read(fd, &n, sizeof n) != sizeof n) return;
	printf("%llu stores\n", n);
}
static const struct { const char *name; void (*run)(void); } modes[] = {
	{"handler", handler}, {"forks", forks}, {"execs", execs}, {"confined", confined}, {"threads", threads}, {"debugged", debugged}, {"stopped", stopped}, {"dies", dies},
	{"demoted", demoted}, {"watches", watches},
};
int main(int argc, char **argv) {
	for (unsigned m = 0; argc == 2 && m < sizeof modes / sizeof *modes; m++)
		if (!strcmp(argv[1], modes[m].name)) return modes[m].run(), 0;
	return 2;
}
