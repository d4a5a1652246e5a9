/* Thread 0 works, slowly by the wall, and then lets the others go. These wait for it in the way that
 * the first argument names, half a millisecond at a time; the second one is how many there are. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t begin;
static sem_t sem;
static int ready;
static const char *way;
static int others;

/* A pause takes 10 to 150 cycles, as the processor has it, and is one instruction. */
static __attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 200000; i++)
		__asm__ volatile(".rept 8; pause; .endr");
}

static struct timespec soon(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	if ((t.tv_nsec += 500000) >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

static void await(void)
{
	struct timespec t = soon();
	if (!strcmp(way, "cond")) {
		pthread_mutex_lock(&mutex);
		for (; !ready; t = soon())
			pthread_cond_timedwait(&cond, &mutex, &t);
		pthread_mutex_unlock(&mutex);
	} else if (!strcmp(way, "sem")) {
		while (sem_timedwait(&sem, &t))
			t = soon();
	} else {
		while (pthread_mutex_timedlock(&held, &t))
			t = soon();
		pthread_mutex_unlock(&held);
	}
}

static void *waiter(void *p)
{
	pthread_barrier_wait(&begin);
	await();
	return p;
}

static void *worker(void *p)
{
	pthread_mutex_lock(&held);
	pthread_barrier_wait(&begin);
	work();
	pthread_mutex_lock(&mutex);
	ready = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < others; i++)
		sem_post(&sem);
	pthread_mutex_unlock(&held);
	return p;
}

int main(int argc, char **argv)
{
	pthread_t t[8];
	if (argc != 3 || (others = atoi(argv[2])) > 7)
		return 2;
	way = argv[1];
	sem_init(&sem, 0, 0);
	pthread_barrier_init(&begin, 0, others + 1);
	for (int i = 0; i <= others; i++)
		pthread_create(&t[i], 0, i ? waiter : worker, 0);
	for (int i = 0; i <= others; i++)
		pthread_join(t[i], 0);
	return 0;
}
