/* Threads that meet at barriers: beside HOW THREADS [ROUNDS]. HOW is how the program ends. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static const char *how;
static int rounds = 10;

static void *work(void *arg)
{
	volatile long sum = 0;
	long id = (long)arg;
	for (int r = 0; r < rounds; r++) {
		for (long i = 0; i < 1000 * (id % 8 + 1); i++)
			sum += i;
		pthread_barrier_wait(&barrier); /* END */
		if (id == 1 && r == 5 && !strcmp(how, "abort"))
			abort();
		if (id == 1 && r == 5 && !strcmp(how, "fault"))
			*(volatile int *)8 = 1;
		if (id == 1 && r == 5 && !strcmp(how, "exit"))
			exit(7);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	how = argv[1];
	int n = atoi(argv[2]);
	if (argc > 3)
		rounds = atoi(argv[3]);
	pthread_t *t = malloc(n * sizeof *t);
	pthread_barrier_init(&barrier, NULL, n);
	for (long i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, work, (void *)i))
			return 2;
	puts("started");
	fflush(stdout);
	if (!strcmp(how, "stuck"))
		pthread_barrier_wait(&barrier);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	if (!strcmp(how, "replace"))
		execl("/bin/sh", "sh", "-c", "exit 5", NULL);
	return 0;
}
