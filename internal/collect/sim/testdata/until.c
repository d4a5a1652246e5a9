/* Threads that meet at barriers until a file is there: until FILE. Each round has a thread of its own. Prints the rounds, ends with 3. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static atomic_int last;

static void *once(void *p)
{
	return p;
}

static void *work(void *file)
{
	volatile long sum = 0;
	for (long r = 0;; r++) {
		for (long i = 0; i < 20000; i++)
			sum += i;
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
			pthread_t t;
			if (pthread_create(&t, 0, once, 0) || pthread_join(t, 0))
				return (void *)1;
			sched_yield();
			atomic_store(&last, !access(file, F_OK));
		}
		pthread_barrier_wait(&barrier);
		if (atomic_load(&last))
			return 0;
	}
}

int main(int argc, char **argv)
{
	pthread_t t[4];
	void *bad = 0;
	pthread_barrier_init(&barrier, 0, 4);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], 0, work, argv[1]);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], &bad);
	puts(bad ? "bad" : "ended");
	return 3;
}
