/* Ends badly, in the way that its argument names; one instance of a section
 * is finished before. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static pthread_barrier_t barrier;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static const char *way;
static volatile int *volatile nowhere;
static volatile long work;

static void *worker(void *arg)
{
	long me = (long)arg;
	for (volatile int i = 0; i < 1000 * (me + 1); i++)
		;
	pthread_barrier_wait(&barrier);
	if (!strcmp(way, "deadlock")) {
		pthread_mutex_lock(me ? &a : &b);
		pthread_barrier_wait(&barrier);
		pthread_mutex_lock(me ? &b : &a);
	}
	if (me)
		return NULL;
	if (!strcmp(way, "crash"))
		*nowhere = 1;
	if (!strcmp(way, "abort"))
		abort();
	if (!strcmp(way, "kill"))
		raise(SIGKILL);
	if (!strcmp(way, "exit"))
		exit(42);
	while (!strcmp(way, "forever"))
		work++;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[2];
	way = argc > 1 ? argv[1] : "";
	pthread_barrier_init(&barrier, NULL, 2);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
