// Threads that signals interrupt, and what becomes of what they were at. Argument: how the handlers
// end it: repaired (it is done again), skipped, or left by a jump; divided, undefined: skipped, at
// other instructions; emulated: done again, one that lime emulates; trapped: it had been done;
// restarted: it was a system call. written: no signal comes, but the code's page is written to, which
// lime finds out by a fault of its own.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
enum { workers = 4, page = 4096 };
static const char *how;
static volatile long sum;
static long handled;
static __thread sigjmp_buf out;

static int is(const char *word) { return !strcmp(how, word); }

static void handler(int s, siginfo_t *i, void *u)
{
	__atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
	if (is("left"))
		siglongjmp(out, 1);
	greg_t *r = ((ucontext_t *)u)->uc_mcontext.gregs;
	if (is("emulated"))
		r[REG_RCX] = 0;
	else if (is("repaired"))
		mprotect((void *)((long)i->si_addr & -page), page, PROT_READ | PROT_WRITE);
	else if (s != SIGTRAP && s != SIGUSR1)
		r[REG_RIP] += 2; /* the instruction's length */
}

/* Each is interrupted at an instruction with others of its block before and behind it. */
#define ROUND(instruction)            \
	for (long i = 0; i < n; i++) {    \
		sum += i * 3 ^ n;             \
		__asm__ volatile instruction; \
		sum += sum >> 3;              \
	}
__attribute__((noinline)) static void stores(char *p, long n) { ROUND(("movb %%al, (%0)" : : "r"(p + i) : "memory")) }
__attribute__((noinline)) static void divides(long n)
{
	ROUND(("xor %%edx, %%edx\n div %0" : : "r"((int)(i & 3)) : "rax", "rdx", "cc"))
}
__attribute__((noinline)) static void traps(long n) { ROUND(("int3")) }
__attribute__((noinline)) static void undefined(long n) { ROUND(("ud2")) }
__attribute__((noinline)) static void emulated(long n)
{
	ROUND(("mov $99, %%ecx\n xgetbv" : : : "rax", "rcx", "rdx")) /* there is no such register */
}
__attribute__((noinline)) static void reads(long fd, char *to, long n)
{
	ROUND(("xor %%eax, %%eax\n syscall" : : "D"(fd), "S"(to), "d"(1L) : "rax", "rcx", "r11", "memory"))
}
__attribute__((noinline)) static void leaves(char *p, long n)
{
	for (volatile long i = 0; i < n; i++)
		if (!sigsetjmp(out, 1))
			stores(p, 1);
}

/* writes calls code that writes to its own page, and changes that code at times. */
static void writes(char *p, long n)
{
	static const char code[] = "\xb8\1\0\0\0" /* mov $1, %eax */
				   "\xc6\x47\x80\7"  /* movb $7, -128(%rdi) */
				   "\xff\xc0\xc3";     /* inc %eax; ret */
	mprotect(p, page, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(p + 512, code, sizeof code);
	for (long i = 0; i < 10 * n; i++) {
		sum += ((int (*)(char *))(p + 512))(p + 256);
		if (i % 10 == 3)
			p[513] = (char)i;
	}
}

static char *pages;
static int pipes[workers][2];

static void *work(void *p)
{
	long k = (long)p, n = 20 + k;
	char *mine = pages + page * k, byte;
	if (is("restarted"))
		reads(pipes[k][0], &byte, 3);
	for (long i = 0; is("repaired") && i < n; i++) {
		mprotect(mine, page, PROT_NONE);
		stores(mine, n);
	}
	if (is("skipped"))
		stores(mine, n);
	if (is("left"))
		leaves(mine, n);
	if (is("written"))
		writes(mine, n);
	if (is("divided"))
		divides(n);
	if (is("trapped"))
		traps(n);
	if (is("emulated"))
		emulated(n);
	if (is("undefined"))
		undefined(n);
	return 0;
}

int main(int c, char **v)
{
	how = v[c - 1];
	struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
	int all[] = {SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGUSR1};
	for (int i = 0; i < 5; i++)
		sigaction(all[i], &a, 0);
	pages = mmap(0, workers * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t t[workers];
	for (long i = 0; i < workers; i++) {
		if (pipe(pipes[i]))
			return 1;
		pthread_create(&t[i], 0, work, (void *)i);
	}
	for (int round = 0; is("restarted") && round < 3; round++) {
		usleep(1000);
		for (int i = 0; i < workers; i++)
			pthread_kill(t[i], SIGUSR1);
		usleep(1000);
		for (int i = 0; i < workers; i++)
			if (write(pipes[i][1], "", 1) != 1)
				return 1;
	}
	for (int i = 0; i < workers; i++)
		pthread_join(t[i], 0);
	printf("%ld\n", handled);
}
