/* A collective that grows: after each step one thread adds up what all have found. usage: collective THREADS */
#include <pthread.h>
#include <stdlib.h>

enum { STEPS = 20, WORK = 640000, EACH = 40 };
static int n;
static pthread_barrier_t bar;
static volatile long part[1024][16], sum;

static __attribute__((noinline)) void spend(volatile long *to, long rounds)
{
	for (long i = 0; i < rounds; i++)
		*to += i;
}

static void *worker(void *arg)
{
	long id = (long)arg;
	for (int s = 0; s < STEPS; s++) {
		spend(part[id], WORK / n);
		pthread_barrier_wait(&bar);
		if (id == 0)
			for (int i = 0; i < n; i++) /* CAUSE */
				spend(&sum, EACH);
		pthread_barrier_wait(&bar);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[1024];
	n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_barrier_init(&bar, NULL, n);
	for (long i = 1; i < n; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker(0);
	for (long i = 1; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}
