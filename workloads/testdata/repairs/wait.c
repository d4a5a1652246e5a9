// Each request is tried again after a pause that is much too long. Repaired: after a short one.
#include <pthread.h>
#include <time.h>

enum { N = 8, REQUESTS = 20 };
static unsigned sink[N][16];
static long pause_ns = 500000;

static void work(long me, int n)
{
	for (int i = 0; i < n; i++)
		sink[me][0] = sink[me][0] * 1664525u + 1;
}

static void *client(void *arg)
{
	long me = (long)arg;
	for (int r = 0; r < REQUESTS; r++) {
		work(me, 10000);
		struct timespec nap = {0, pause_ns};
		nanosleep(&nap, NULL); /* CAUSE */
		work(me, 10000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[N];
	(void)argv;
	if (argc > 1)
		pause_ns = 1000;
	for (long i = 0; i < N; i++)
		pthread_create(&t[i], NULL, client, (void *)i);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
}
