/* Threads that wait for one another in ways of their own: ownbarrier THREADS ROUNDS. KIND says how:
 * sense, tree, yield, later (it looks for a while before it yields), futex, halves (to arrive and to
 * wait are two functions), condition are barriers, ticket, ttas and mutex locks, permits a semaphore
 * for half of them, chain is a ring of flags, turns one of a condition that wakes all. INLINE: the
 * compiler puts them into the function that works. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef INLINE
#define FUNCTION static inline __attribute__((always_inline))
#else
#define FUNCTION static __attribute__((noinline))
#endif

enum { sense, tree, yield, later, futex, ticket, ttas, chain, mutex, permits, halves, condition, turns };

static int threads, rounds;
static atomic_int arrived, phase, next, held, given;
static struct { _Alignas(64) atomic_int flag; } flags[2][8][64];
static double out[64][8];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

__attribute__((noinline)) static int arrive(void)
{
	int now = atomic_load(&phase);
	if (atomic_fetch_add(&arrived, 1) + 1 == threads) {
		atomic_store(&arrived, 0);
		atomic_store(&phase, now + 1);
		syscall(SYS_futex, &phase, FUTEX_WAKE_PRIVATE, 1 << 30, 0, 0, 0);
	}
	return now;
}

__attribute__((noinline)) static void until_all_have(int now)
{
	for (int i = 0; atomic_load(&phase) == now; i++)
		if (i > 10)
			syscall(SYS_futex, &phase, FUTEX_WAIT_PRIVATE, now, 0, 0, 0);
		else
			sched_yield();
}

FUNCTION void wait_for_others(int id, int round)
{
	int now = atomic_load(&phase);
	switch (KIND) {
	case tree:
		for (int k = 0, d = 1; d < threads; k++, d *= 2) {
			atomic_store(&flags[round & 1][k][(id + d) % threads].flag, round / 2 + 1);
			while (atomic_load(&flags[round & 1][k][id].flag) < round / 2 + 1)
				__builtin_ia32_pause();
		}
		return;
	case ticket: {
		int mine = atomic_fetch_add(&next, 1);
		while (atomic_load(&phase) != mine)
			__builtin_ia32_pause();
		return;
	}
	case ttas:
		while (atomic_exchange(&held, 1))
			while (atomic_load(&held))
				__builtin_ia32_pause();
		return;
	case mutex:
	case permits:
		for (;;) {
			int n = atomic_load(&given);
			if (n == (KIND == mutex ? 1 : threads / 2))
				syscall(SYS_futex, &given, FUTEX_WAIT_PRIVATE, n, 0, 0, 0);
			else if (atomic_compare_exchange_strong(&given, &n, n + 1))
				return;
		}
	case halves:
		until_all_have(arrive());
		return;
	case condition:
		pthread_mutex_lock(&lock);
		now = phase;
		if (++held == threads) {
			held = 0;
			phase++;
			pthread_cond_broadcast(&changed);
		}
		while (phase == now)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		return;
	case turns:
		pthread_mutex_lock(&lock);
		while (phase % threads != id)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		return;
	case chain:
		while (atomic_load(&phase) % threads != id)
			__builtin_ia32_pause();
		return;
	}
	if (atomic_fetch_add(&arrived, 1) + 1 == threads) {
		atomic_store(&arrived, 0);
		atomic_store(&phase, now + 1);
		if (KIND == futex)
			syscall(SYS_futex, &phase, FUTEX_WAKE_PRIVATE, 1 << 30, 0, 0, 0);
		return;
	}
	if (KIND == later) {
		int looks = 0;
		while (atomic_load(&phase) == now)
			if (++looks > 200)
				sched_yield();
		return;
	}
	for (int i = 0; atomic_load(&phase) == now; i++)
		if (KIND == yield)
			sched_yield();
		else if (KIND == futex && i > 1000)
			syscall(SYS_futex, &phase, FUTEX_WAIT_PRIVATE, now, 0, 0, 0);
}

__attribute__((noinline)) static double work(double x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 0.999 + i;
	return x;
}

static void let_go(int id)
{
	if (KIND == ttas)
		atomic_store(&held, 0);
	else if (KIND == ticket || KIND == chain)
		atomic_fetch_add(&phase, 1);
	else if (KIND == turns) {
		out[id][1] = work(out[id][1], 20 << (3 - id % 4) * 4);
		pthread_mutex_lock(&lock);
		phase++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	} else if (KIND == mutex || KIND == permits) {
		out[id][1] = work(out[id][1], 200000);
		atomic_fetch_sub(&given, 1);
		syscall(SYS_futex, &given, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
	}
}

static void *worker(void *arg)
{
	long id = (long)arg;
	for (int r = 0; r < rounds; r++) {
		out[id][0] = work(out[id][0], 20000 + 10000 * (id % 4));
		wait_for_others(id, r);
		let_go(id);
	}
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
