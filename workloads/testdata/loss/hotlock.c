// A pool of threads that take pieces of work from a counter, and add each result to a sum under one hot lock, with
// most of the work inside of it. REPAIRED: each thread keeps a sum of its own, and takes the lock once.
#include <pthread.h>
#include <stdio.h>

#define N 8

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER, hot = PTHREAD_MUTEX_INITIALIZER;
static int next;
static volatile long sum;

static long work(long n)
{
	long s = 0;
	for (long i = 0; i < n; i++)
		s += i * i ^ s;
	return s;
}

static void *worker(void *arg)
{
	long mine = 0;
	for (;;) {
		pthread_mutex_lock(&queue);
		int i = next++;
		pthread_mutex_unlock(&queue);
		if (i >= 100)
			break;
#ifdef REPAIRED
		mine += work(10000);
#else
		pthread_mutex_lock(&hot); /* HOT */
		sum += work(10000);
		pthread_mutex_unlock(&hot);
#endif
	}
	pthread_mutex_lock(&hot);
	sum += mine;
	pthread_mutex_unlock(&hot);
	return arg;
}

int main(void)
{
	pthread_t t[N];
	for (int i = 0; i < N; i++)
		pthread_create(&t[i], 0, worker, 0);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], 0);
	printf("%ld\n", sum);
	return 0;
}
