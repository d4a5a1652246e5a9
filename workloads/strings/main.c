/* Equally many strings for each thread, of unequal length. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int P, N = 60;
static char **text[1024];
static unsigned hash[1024];
static pthread_barrier_t bar;

static void *worker(void *arg) {
	long id = (long)arg;
	unsigned h = 5381;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++)
			for (const char *s = text[id][i]; *s; s++) /* CAUSE */
				h = h * 33 + (unsigned char)*s;
		hash[id] = h;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	for (int t = 0; t < P; t++) {
		text[t] = malloc(sizeof(char *) * N);
		for (int i = 0; i < N; i++) {
			int len = 200 + t * 29 % 13 * 150;
			text[t][i] = malloc(len + 1);
			memset(text[t][i], 'a' + i % 26, len);
			text[t][i][len] = 0;
		}
	}
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%u\n", hash[0]);
	return 0;
}
