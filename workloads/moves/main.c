/* Every thread moves its buffer, and every fourth one has a larger one: what takes longer is the C library's. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int P;
static pthread_barrier_t bar;
static char *buffer[1024];
static size_t size[1024];

static void *work(void *arg)
{
	long me = (long)arg;
	for (int round = 0; round < 20; round++) {
		memmove(buffer[me] + 64, buffer[me], size[me]); /* CAUSE */
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[1024];
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	for (int i = 0; i < P; i++) {
		size[i] = i % 4 == 3 ? 80000 : 20000;
		buffer[i] = calloc(1, 100000);
	}
	for (long i = 1; i < P; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	work(0);
	for (int i = 1; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", buffer[0][5]);
	return 0;
}
