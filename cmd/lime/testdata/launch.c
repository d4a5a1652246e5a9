// Changes what a program inherits, as the letters of its first argument say, and becomes the program that follows.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
static void limit(int what, long soft, long hard) { struct rlimit l = { soft, hard }; setrlimit(what, &l); }
int main(int argc, char **argv) {
	if (strchr(argv[1], 'p')) {
		limit(RLIMIT_NOFILE, 300, 500); limit(RLIMIT_CORE, 0, 4096); limit(RLIMIT_FSIZE, 1L << 40, 1L << 41);
		limit(RLIMIT_STACK, 16L << 20, 1L << 30); limit(RLIMIT_NPROC, 20000, 21000); limit(RLIMIT_MEMLOCK, 1 << 20, 1 << 21);
		limit(RLIMIT_CPU, 5000, 6000); limit(RLIMIT_DATA, 1L << 41, 1L << 42); limit(RLIMIT_SIGPENDING, 5000, 6000);
		limit(RLIMIT_MSGQUEUE, 100000, 200000);
		setpriority(PRIO_PROCESS, 0, 3);
		personality(ADDR_NO_RANDOMIZE | 0x0020000);
		umask(027);
		prctl(PR_SET_TIMERSLACK, 70000, 0, 0, 0);
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
		prctl(PR_CAPBSET_DROP, 25, 0, 0, 0);
		syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 6);
		struct sched_param sp = {0}; sched_setscheduler(0, SCHED_BATCH, &sp);
		struct itimerval it = { {0}, { 5000, 0 } }; setitimer(ITIMER_REAL, &it, 0);
		FILE *f = fopen("/proc/self/oom_score_adj", "w"); if (f) { fprintf(f, "345\n"); fclose(f); }
		f = fopen("/proc/self/coredump_filter", "w"); if (f) { fprintf(f, "0x13\n"); fclose(f); }
		dup2(open("/dev/zero", O_RDONLY), 7);
		dup2(open("/dev/zero", O_RDONLY), 63);
		fcntl(7, F_SETFL, O_NONBLOCK);
	}
	if (strchr(argv[1], 'a')) alarm(5);
	if (strchr(argv[1], 'n')) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (strchr(argv[1], '0')) close(0);
	if (strchr(argv[1], '2')) close(2);
	if (strchr(argv[1], 'u')) { setgid(65534); setuid(65534); }
	execv(argv[2], argv + 2);
	perror(argv[2]);
	return 99;
}
