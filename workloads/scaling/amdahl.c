/* Amdahl's law: a part that one thread does alone, and a part that is dealt out. usage: amdahl THREADS */
#include <pthread.h>
#include <stdlib.h>

enum { PARALLEL = 38400000, SERIAL = 1200000 };
static int n;
static volatile long sink[1024][16];

static __attribute__((noinline)) void spend(volatile long *to, long rounds)
{
	for (long i = 0; i < rounds; i++)
		*to += i;
}

static void *worker(void *arg)
{
	long id = (long)arg;
	spend(sink[id], PARALLEL / n);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[1024];
	n = argc > 1 ? atoi(argv[1]) : 1;
	spend(sink[0], SERIAL); /* CAUSE */
	for (long i = 1; i < n; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker(0);
	for (long i = 1; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}
