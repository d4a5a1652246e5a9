/* Another process writes to the word on which a thread spins, twice: what the thread looks for comes
 * with the second time, while it may just be looking at what came with the first. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 4000

static volatile struct {
	int asked, told;
} *shared;

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void other(void)
{
	const long patience = 60000000; /* microseconds, then the thread will never come */
	for (int k = 1; k <= ROUNDS; k++) {
		for (long since = now(); shared->asked < k;) {
			if (now() - since > patience) {
				kill(getppid(), SIGKILL);
				_exit(1);
			}
			usleep(20);
		}
		shared->told = 2 * k - 1;
		for (long since = now(); now() - since < k * 7 % 1200;)
			;
		shared->told = 2 * k;
	}
	_exit(0);
}

static void *idle(void *p)
{
	char c;
	read(*(int *)p, &c, 1);
	return 0;
}

int main(void)
{
	int ends[2];
	pthread_t t;
	shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fork() == 0)
		other();
	pipe(ends);
	pthread_create(&t, 0, idle, ends); /* for who is alone is not taken out of anybody's way */
	for (int k = 1; k <= ROUNDS; k++) {
		shared->asked = k;
		while (shared->told < 2 * k)
			__builtin_ia32_pause();
	}
	write(ends[1], "", 1);
	pthread_join(t, 0);
	puts("through");
	return 0;
}
