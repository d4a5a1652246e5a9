/* Threads that do little but take a lock each of their own or one that all share.
 *     locks [THREADS] [MILLION OPERATIONS EACH] [SHARED: 1 in so many, 0 = none] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int threads = 2, millions = 6, shared = 64;
static struct slot {
	pthread_mutex_t lock;
	long sum;
	char pad[64];
} slot[65];

static void add(struct slot *s, long x)
{
	pthread_mutex_lock(&s->lock);
	s->sum += x;
	pthread_mutex_unlock(&s->lock);
}

static void *worker(void *arg)
{
	long me = (long)arg;
	for (long i = 1; i <= millions * 1000000L; i++)
		add(shared && i % shared == 0 ? &slot[0] : &slot[me + 1], i);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		threads = atoi(argv[1]);
	if (argc > 2)
		millions = atoi(argv[2]);
	if (argc > 3)
		shared = atoi(argv[3]);
	if (threads < 1 || threads > 64 || millions < 1 || shared < 0)
		return 2;
	pthread_t t[64];
	for (int i = 0; i <= threads; i++)
		pthread_mutex_init(&slot[i].lock, 0);
	for (long i = 0; i < threads; i++)
		pthread_create(&t[i], 0, worker, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], 0);
	long sum = 0;
	for (int i = 0; i <= threads; i++)
		sum += slot[i].sum;
	printf("%ld\n", sum);
	return 0;
}
