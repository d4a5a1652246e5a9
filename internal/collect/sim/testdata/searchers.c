// One thread works; the others look for work in its queue, which they lock meanwhile, find none, and give their cores away.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int left = 1, items;
static int look(void)
{
	if (pthread_mutex_trylock(&mutex))
		return 0;
	int got = items > 0;
	if (got)
		items--;
	pthread_mutex_unlock(&mutex);
	return got;
}
static void *searcher(void *p)
{
	long n = 0;
	while (left)
		if (look())
			n++;
		else
			sched_yield();
	return (void *)n;
}
int main(void)
{
	pthread_t t[7];
	for (int i = 0; i < 7; i++)
		pthread_create(&t[i], 0, searcher, 0);
	long x = 1;
	for (long i = 0; i < 500000; i++) {
		x = x * 31 + i;
		__asm__ volatile("" : "+r"(x));
	}
	left = 0;
	for (int i = 0; i < 7; i++)
		pthread_join(t[i], 0);
	printf("%d\n", x != 0);
}
