// Prints what a process has inherited and sees of itself, a line each, but for what differs from run to run.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <unistd.h>
extern char **environ;
static void number(const char *key, long v) { printf("%s: %ld\n", key, v < 0 ? -(long)errno : v); }
static void keyed(const char *key, long n, long v) { printf("%s %ld: %ld\n", key, n, v < 0 ? -(long)errno : v); }
static void file(const char *name) {
	char b[65536], path[256], *save, *line;
	snprintf(path, sizeof path, "/proc/self/%s", name);
	int fd = open(path, O_RDONLY);
	if (fd < 0) { printf("%s: errno %d\n", name, errno); return; }
	long n = 0, r;
	while ((r = read(fd, b + n, sizeof b - 1 - n)) > 0) n += r;
	close(fd);
	for (long i = 0; i < n; i++) if (b[i] == 0) b[i] = '|';
	b[n] = 0;
	for (line = strtok_r(b, "\n", &save); line; line = strtok_r(0, "\n", &save)) printf("%s: %s\n", name, line);
	if (n == 0) printf("%s: empty\n", name);
}
static void link_(const char *name) {
	char b[4096], path[256];
	snprintf(path, sizeof path, "/proc/self/%s", name);
	long n = readlink(path, b, sizeof b - 1);
	if (n < 0) { printf("%s: errno %d\n", name, errno); return; }
	b[n] = 0;
	printf("%s: %s\n", name, b);
}
static char **last(char **list) { while (list[1]) list++; return list; }
// same says whether a file holds what lies on the stack.
static void same(const char *name, void *lo, void *hi) {
	static char b[1 << 20];
	char path[256];
	snprintf(path, sizeof path, "/proc/self/%s", name);
	int fd = open(path, O_RDONLY);
	long n = fd < 0 ? -1 : read(fd, b, sizeof b);
	printf("same %s: %d\n", name, n == (char *)hi - (char *)lo && memcmp(b, lo, n) == 0);
}
int main(int argc, char **argv) {
	for (int fd = 0; fd < 70; fd++) {
		struct stat st;
		if (fd == 1) continue; // where this goes
		if (fstat(fd, &st) == 0)
			printf("fd %d: mode %o rdev %lx flags %x fdflags %x\n", fd, st.st_mode, st.st_rdev, fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
		else printf("fd %d: errno %d\n", fd, errno);
	}
	printf("first fd: %d\n", open("/dev/null", O_RDONLY));
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit l;
		getrlimit(i, &l);
		printf("rlimit %d: %lu %lu\n", i, l.rlim_cur, l.rlim_max);
	}
	errno = 0; number("nice", getpriority(PRIO_PROCESS, 0) + 20);
	number("nice pid", getpriority(PRIO_PROCESS, getpid()) + 20);
	number("personality", personality(0xffffffff));
	struct utsname u; uname(&u); printf("uname: %s %s\n", u.release, u.machine);
	mode_t m = umask(0); umask(m); printf("umask: %o\n", m);
	static const int gets[] = { PR_GET_DUMPABLE, PR_GET_KEEPCAPS, PR_GET_TIMERSLACK, PR_GET_SECUREBITS, PR_GET_NO_NEW_PRIVS,
		PR_GET_SECCOMP, PR_GET_THP_DISABLE, PR_MCE_KILL_GET, PR_GET_TIMING, PR_GET_IO_FLUSHER };
	for (unsigned i = 0; i < sizeof gets / sizeof *gets; i++) keyed("prctl", gets[i], prctl(gets[i], 0, 0, 0, 0));
	static const int puts_[] = { PR_GET_PDEATHSIG, PR_GET_TSC, PR_GET_CHILD_SUBREAPER, PR_GET_UNALIGN, PR_GET_FPEMU, PR_GET_ENDIAN };
	for (unsigned i = 0; i < sizeof puts_ / sizeof *puts_; i++) {
		int v = 0;
		long r = prctl(puts_[i], &v, 0, 0, 0);
		keyed("prctl", puts_[i], r < 0 ? r : v);
	}
	for (int i = 0; i < 3; i++) keyed("speculation", i, prctl(52, i, 0, 0, 0));
	for (int i = 0; i <= 40; i++) keyed("bounding", i, prctl(PR_CAPBSET_READ, i, 0, 0, 0));
	for (int i = 0; i <= 40; i++) keyed("ambient", i, prctl(47, 1, i, 0, 0));
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2];
	syscall(SYS_capget, &h, d);
	printf("caps: %x %x %x %x %x %x\n", d[0].effective, d[0].permitted, d[0].inheritable, d[1].effective, d[1].permitted, d[1].inheritable);
	number("ioprio", syscall(SYS_ioprio_get, 1, 0));
	number("scheduler", sched_getscheduler(0));
	struct sched_param sp = {0}; sched_getparam(0, &sp); number("sched param", sp.sched_priority);
	struct { unsigned size, policy; unsigned long flags; int nice; unsigned prio; unsigned long rt[3]; unsigned umin, umax; } sa = {0};
	long r = syscall(SYS_sched_getattr, 0, &sa, sizeof sa, 0);
	printf("sched attr: %ld policy %u flags %lu nice %d prio %u\n", r, sa.policy, sa.flags, sa.nice, sa.prio);
	cpu_set_t set; sched_getaffinity(0, sizeof set, &set); number("cores", CPU_COUNT(&set));
	struct itimerval it;
	for (int i = 0; i < 3; i++) { getitimer(i, &it); printf("itimer %d: %d\n", i, it.it_value.tv_sec > 0); }
	stack_t ss; sigaltstack(0, &ss); number("altstack", ss.ss_flags);
	sigset_t mask; sigprocmask(0, 0, &mask);
	for (int i = 1; i < 65; i++) {
		struct sigaction a;
		if (i == 32 || i == 33 || sigaction(i, 0, &a)) continue;
		printf("signal %d: %s%s\n", i, a.sa_handler == SIG_IGN ? "ignored " : a.sa_handler ? "handled " : "", sigismember(&mask, i) ? "blocked" : "");
	}
	printf("ids: %d %d %d %d\n", getuid(), geteuid(), getgid(), getegid());
	gid_t g[100]; int ng = getgroups(100, g);
	printf("groups:"); for (int i = 0; i < ng; i++) printf(" %d", g[i]); printf("\n");
	printf("session: leader %d group leader %d same session as parent %d same group as parent %d\n", getsid(0) == getpid(), getpgrp() == getpid(), getsid(0) == getsid(getppid()), getpgrp() == getpgid(getppid()));
	printf("terminal: 0 %s 2 %s tty %d foreground %d\n", isatty(0) ? ttyname(0) : "none", isatty(2) ? "yes" : "none", open("/dev/tty", O_RDWR) >= 0, isatty(0) && tcgetpgrp(0) == getpgrp());
	for (int i = 0; i < argc; i++) printf("arg %d: %s\n", i, argv[i]);
	for (char **e = environ; *e; e++) printf("env: %s\n", *e);
	unsigned long *auxv = (unsigned long *)(last(environ) + 2), *end = auxv;
	for (unsigned long *a = auxv; a[0]; a += 2, end = a)
		switch (a[0]) {
		case AT_SYSINFO_EHDR: case AT_PHDR: case AT_BASE: case AT_ENTRY: case AT_RANDOM: printf("auxv %lu: there\n", a[0]); break;
		case AT_EXECFN: case AT_PLATFORM: printf("auxv %lu: %s\n", a[0], (char *)a[1]); break;
		default: printf("auxv %lu: %lx\n", a[0], a[1]);
		}
	static const char *files[] = { "status", "cmdline", "comm", "limits", "oom_score_adj", "cgroup", "cpuset", "personality",
		"coredump_filter", "loginuid", "sessionid", "uid_map", "gid_map", "setgroups", "attr/current",
		"timens_offsets" };
	for (unsigned i = 0; i < sizeof files / sizeof *files; i++) file(files[i]);
	static const char *links[] = { "exe", "cwd", "root", "ns/mnt", "ns/pid", "ns/net", "ns/user", "ns/uts", "ns/ipc", "ns/cgroup", "ns/time" };
	for (unsigned i = 0; i < sizeof links / sizeof *links; i++) link_(links[i]);
	char cwd[4096]; printf("getcwd: %s\n", getcwd(cwd, sizeof cwd) ? cwd : strerror(errno));
	same("environ", *environ, *last(environ) + strlen(*last(environ)) + 1);
	same("auxv", auxv, end + 2);
	return 0;
}
