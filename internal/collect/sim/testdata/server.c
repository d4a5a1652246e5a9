// One server: threads take a lock, hold it for a while, and think for another. Argument: threads,
// passages of each, instructions under the lock, instructions without it, and by how much longer
// the first thread holds it. Kinds: -DRW writes, -DRECURSIVE takes the lock twice, -DCRITICAL is
// the critical region of OpenMP.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
static long passages, held, thought, factor;
static pthread_barrier_t bar;
static void spend(long n) { __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(n)); }
#ifdef RW
pthread_rwlock_t hot = PTHREAD_RWLOCK_INITIALIZER;
#define TAKE pthread_rwlock_wrlock(&hot)
#define GIVE pthread_rwlock_unlock(&hot)
#elif defined CRITICAL
void GOMP_critical_start(void), GOMP_critical_end(void);
#define TAKE GOMP_critical_start()
#define GIVE GOMP_critical_end()
#elif defined RECURSIVE
pthread_mutex_t hot = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
#define TAKE pthread_mutex_lock(&hot), pthread_mutex_lock(&hot)
#define GIVE pthread_mutex_unlock(&hot), pthread_mutex_unlock(&hot)
#else
pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER;
#define TAKE pthread_mutex_lock(&hot)
#define GIVE pthread_mutex_unlock(&hot)
#endif
__attribute__((noinline)) static void slow(void)
{
	TAKE;
	spend(factor * held / 2);
	GIVE;
}
__attribute__((noinline)) static void quick(void)
{
	TAKE;
	spend(held / 2);
	GIVE;
}
static void *work(void *p)
{
	pthread_barrier_wait(&bar);
	for (long i = 0; i < passages; i++) {
		if ((long)p == 0)
			slow();
		else
			quick();
		spend(thought / 2);
	}
	return p;
}
int main(int c, char **v)
{
	long n = atol(v[1]);
	pthread_t t[64];
	passages = atol(v[2]), held = atol(v[3]), thought = atol(v[4]), factor = atol(v[5]);
	pthread_barrier_init(&bar, 0, n);
	for (long i = 0; i < n; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	for (long i = 0; i < n; i++)
		pthread_join(t[i], 0);
}
