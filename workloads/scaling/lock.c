/* A lock that becomes busy all the time: each item is counted under it. usage: lock THREADS */
#include <pthread.h>
#include <stdlib.h>

enum { ITEMS = 131072, OUTSIDE = 300, INSIDE = 10 };
static int n;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long total;

static __attribute__((noinline)) void spend(volatile long *to, long rounds)
{
	for (long i = 0; i < rounds; i++)
		*to += i;
}

static void *worker(void *arg)
{
	volatile long mine[16] = {(long)arg};
	for (int i = 0; i < ITEMS / n; i++) {
		spend(mine, OUTSIDE);
		pthread_mutex_lock(&lock); /* CAUSE */
		spend(&total, INSIDE);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[1024];
	n = argc > 1 ? atoi(argv[1]) : 1;
	for (long i = 1; i < n; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker(0);
	for (long i = 1; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}
