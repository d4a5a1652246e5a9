// Signals: handlers, masks, alternate stacks, faults, timers, waiting for them,
// signals to threads, vector registers across handlers.
#define _GNU_SOURCE
#include <pthread.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int hits, value;
static sigjmp_buf jump;
static pthread_t other;

static void count(int s) { hits++; }
static void clobber(int s) {
	double x[8];
	for (int i = 0; i < 8; i++)
		x[i] = i * 1.7;
	__asm__ volatile("vpcmpeqd %%ymm0,%%ymm0,%%ymm0\n vpcmpeqd %%ymm7,%%ymm7,%%ymm7" ::: "xmm0", "xmm7");
	hits += x[3] > 0;
}
static void info(int s, siginfo_t *i, void *u) { value = i->si_value.sival_int; }
static void segv(int s, siginfo_t *i, void *u) {
	ucontext_t *c = u;
	printf("fault at %p trap %d error %d\n", i->si_addr, (int)c->uc_mcontext.gregs[REG_TRAPNO], (int)c->uc_mcontext.gregs[REG_ERR]);
	siglongjmp(jump, 1);
}
static void fpe(int s, siginfo_t *i, void *u) {
	ucontext_t *c = u;
	printf("fpe code %d\n", i->si_code);
	c->uc_mcontext.gregs[REG_RIP] += 2;
}
static void ill(int s, siginfo_t *i, void *u) {
	ucontext_t *c = u;
	printf("ill code %d here %d\n", i->si_code, (long)i->si_addr == c->uc_mcontext.gregs[REG_RIP]);
	c->uc_mcontext.gregs[REG_RIP] += 2;
}
static int deep(int n) {
	volatile char b[4096];
	b[0] = n;
	return n < 0 ? 0 : deep(n + 1) + b[0];
}
static void overflow(int s, siginfo_t *i, void *u) {
	printf("stack overflow seen\n");
	siglongjmp(jump, 2);
}
static void on(int sig, void *f, int flags) {
	struct sigaction a = {0};
	a.sa_sigaction = f;
	a.sa_flags = flags;
	sigaction(sig, &a, 0);
}
static void *waiter(void *p) {
	sigset_t s;
	int sig;
	sigemptyset(&s);
	sigaddset(&s, SIGUSR2);
	sigwait(&s, &sig);
	printf("sigwait got %d\n", sig);
	return 0;
}

int main(void) {
	setvbuf(stdout, 0, _IONBF, 0);
	on(SIGUSR1, count, 0);
	raise(SIGUSR1);
	kill(getpid(), SIGUSR1);
	printf("hits %d\n", hits);

	sigset_t s, old;
	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigprocmask(SIG_BLOCK, &s, &old);
	raise(SIGUSR1);
	raise(SIGUSR1);
	printf("blocked, hits %d\n", hits);
	sigsuspend(&old);
	printf("suspended, hits %d\n", hits);
	sigprocmask(SIG_SETMASK, &old, 0);

	on(SIGALRM, clobber, 0);
	struct itimerval it = {{0, 2000}, {0, 2000}};
	setitimer(ITIMER_REAL, &it, 0);
	double sum = 0, want = 0;
	hits = 0;
	while (hits < 5) {
		sum = 0;
		for (int i = 1; i < 20000; i++)
			sum += 1.0 / i;
		if (want == 0)
			want = sum;
		if (sum != want)
			printf("vector registers lost\n");
	}
	memset(&it, 0, sizeof it);
	setitimer(ITIMER_REAL, &it, 0);
	printf("timer ok\n");

	stack_t ss = {malloc(65536), 0, 65536};
	sigaltstack(&ss, 0);
	on(SIGSEGV, segv, SA_SIGINFO | SA_ONSTACK);
	if (!sigsetjmp(jump, 1))
		*(volatile int *)0x1234 = 1;
	if (!sigsetjmp(jump, 1))
		(void)*(volatile int *)0x5678;
	on(SIGSEGV, overflow, SA_SIGINFO | SA_ONSTACK);
	if (!sigsetjmp(jump, 1))
		deep(1);
	on(SIGFPE, fpe, SA_SIGINFO);
	__asm__ volatile("xor %%edx,%%edx; mov $5,%%eax; xor %%ecx,%%ecx; div %%ecx" ::: "eax", "ecx", "edx");
	on(SIGILL, ill, SA_SIGINFO);
	__asm__ volatile("ud2");

	on(SIGRTMIN + 1, info, SA_SIGINFO);
	union sigval v = {.sival_int = 4711};
	sigqueue(getpid(), SIGRTMIN + 1, v);
	printf("value %d\n", value);
	timer_t tm;
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1, .sigev_value.sival_int = 12};
	timer_create(CLOCK_MONOTONIC, &ev, &tm);
	struct itimerspec its = {{0, 0}, {0, 1000000}};
	sigset_t some;
	sigemptyset(&some);
	sigaddset(&some, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &some, &old); /* it comes while somebody waits for it, however busy the machine is */
	timer_settime(tm, 0, &its, 0);
	sigsuspend(&old);
	sigprocmask(SIG_SETMASK, &old, 0);
	printf("posix timer %d\n", value);

	sigemptyset(&s);
	sigaddset(&s, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &s, 0);
	pthread_create(&other, 0, waiter, 0);
	usleep(1000);
	pthread_kill(other, SIGUSR2);
	pthread_join(other, 0);

	struct itimerval soon = {{1, 0}, {0, 300000}}; /* again and again: the first may come before the sleep on a busy machine */
	setitimer(ITIMER_REAL, &soon, 0);
	struct timespec ts = {1000, 0}, left;
	int r = nanosleep(&ts, &left);
	printf("nanosleep %d, %s, enough left %d\n", r, strerror(errno), left.tv_sec >= 900);
	on(SIGTERM, (void *)SIG_DFL, 0);
	raise(SIGTERM);
	return 0;
}
