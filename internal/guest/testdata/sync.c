// Threads and all the ways in which they wait: mutexes of every kind, condition
// variables with timeouts, semaphores, barriers, robust and priority-inheriting
// locks, cancellation, once, thread-specific data.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N = 6 };
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, robust, pi;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static sem_t sem;
static long sum, turns, destroyed, cleaned;
static __thread long mine;

static void first(void) { printf("once\n"); }
static void drop(void *p) { __atomic_add_fetch(&destroyed, (long)p, __ATOMIC_SEQ_CST); }
static void cleanup(void *p) { cleaned = (long)p; }

static void *work(void *arg) {
	long id = (long)arg;
	pthread_once(&once, first);
	pthread_setspecific(key, (void *)(id + 1));
	for (int k = 0; k < 20; k++) {
		pthread_barrier_wait(&barrier);
		pthread_mutex_lock(&plain);
		sum += id * k;
		pthread_mutex_unlock(&plain);
		pthread_rwlock_rdlock(&rw);
		mine += sum >= 0;
		pthread_rwlock_unlock(&rw);
		pthread_mutex_lock(&pi);
		turns++;
		pthread_mutex_unlock(&pi);
	}
	sem_post(&sem);
	pthread_mutex_lock(&plain);
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&plain);
	return (void *)mine;
}

static void *dies(void *arg) {
	pthread_mutex_lock(&robust);
	return 0;
}

static void *sleeps(void *arg) {
	pthread_cleanup_push(cleanup, (void *)77);
	for (;;)
		pause();
	pthread_cleanup_pop(0);
}

int main(void) {
	pthread_t t[N];
	pthread_mutexattr_t a;
	void *r;
	long total = 0;
	pthread_barrier_init(&barrier, 0, N);
	pthread_key_create(&key, drop);
	sem_init(&sem, 0, 0);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&pi, &a);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &a);
	for (long i = 0; i < N; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < N; i++)
		sem_wait(&sem);
	for (int i = 0; i < N; i++) {
		pthread_join(t[i], &r);
		total += (long)r;
	}
	printf("sum %ld turns %ld passes %ld destroyed %ld\n", sum, turns, total, destroyed);

	pthread_create(&t[0], 0, dies, 0);
	pthread_join(t[0], 0);
	printf("robust: %s\n", strerror(pthread_mutex_lock(&robust)));
	pthread_mutex_consistent(&robust);
	pthread_mutex_unlock(&robust);

	pthread_create(&t[0], 0, sleeps, 0);
	usleep(1000);
	pthread_cancel(t[0]);
	pthread_join(t[0], &r);
	printf("cancelled %d cleaned %ld\n", r == PTHREAD_CANCELED, cleaned);

	struct timespec ts, now;
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += 20000000;
	if (ts.tv_nsec >= 1000000000)
		ts.tv_sec++, ts.tv_nsec -= 1000000000;
	pthread_mutex_lock(&plain);
	int e = pthread_cond_timedwait(&cond, &plain, &ts);
	pthread_mutex_unlock(&plain);
	clock_gettime(CLOCK_REALTIME, &now);
	printf("timedwait: %s, late enough %d\n", strerror(e), now.tv_sec > ts.tv_sec || now.tv_nsec >= ts.tv_nsec || now.tv_sec == ts.tv_sec);
	pthread_mutex_lock(&pi);
	printf("trylock: %s\n", strerror(pthread_mutex_trylock(&plain)));
	printf("deadlock avoided: %s\n", strerror(sem_trywait(&sem) ? errno : 0));
	return 9;
}
