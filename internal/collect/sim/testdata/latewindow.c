/* Threads that meet at a barrier of a bare futex, the compiler has written it out: latewindow THREADS ROUNDS. The
 * second half of the first thread's rounds is a function of its own. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int threads, rounds;
static atomic_int arrived, phase;
static double out[64][8];

__attribute__((noinline)) static double work(double x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 0.999 + i;
	return x;
}

__attribute__((noinline)) static void meet(long id, int n)
{
	for (int r = 0; r < n; r++) {
		out[id][0] = work(out[id][0], 20000 + 10000 * (id % 4));
		int now = atomic_load(&phase);
		if (atomic_fetch_add(&arrived, 1) + 1 == threads) {
			atomic_store(&arrived, 0);
			atomic_store(&phase, now + 1);
			syscall(SYS_futex, &phase, FUTEX_WAKE_PRIVATE, 1 << 30, 0, 0, 0);
			continue;
		}
		while (atomic_load(&phase) == now)
			syscall(SYS_futex, &phase, FUTEX_WAIT_PRIVATE, now, 0, 0, 0);
	}
}

__attribute__((noinline)) static void measured(int n)
{
	meet(0, n);
	out[0][1]++;
}

static void *worker(void *arg)
{
	long id = (long)arg;
	meet(id, rounds / 2);
	if (id == 0)
		measured(rounds - rounds / 2);
	else
		meet(id, rounds - rounds / 2);
	return NULL;
}

int main(int argc, char **argv)
{
	threads = atoi(argv[1]);
	rounds = atoi(argv[2]);
	pthread_t t[64];
	for (long i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	puts("done");
	return 0;
}
