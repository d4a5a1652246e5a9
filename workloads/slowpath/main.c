/* All threads look records up; one of them got records that miss the table
 * and go the long way. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define T 256
static int P, N = 3000;
static int table[T], overflow[400];
static unsigned *want[1024];
static long hits[1024];
static pthread_barrier_t bar;

__attribute__((noinline)) static long slow(unsigned k) {
	long s = 0;
	for (int i = 0; i < 400; i++)
		s += overflow[i] == (int)k;
	return s;
}

static long lookup(unsigned k) {
	if (table[k % T] == (int)k) /* CAUSE */
		return 1;
	return slow(k); /* CAUSE */
}

static void *worker(void *arg) {
	long id = (long)arg;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++)
			hits[id] += lookup(want[id][i]); /* CAUSE */
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	for (int i = 0; i < T; i++)
		table[i] = i;
	for (int t = 0; t < P; t++) {
		want[t] = malloc(sizeof(unsigned) * N);
		for (int i = 0; i < N; i++)
			want[t][i] = (unsigned)(i * 13 % T) + (t == 2 && i % 4 == 0 ? T : 0);
	}
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", hits[0] + hits[2]);
	return 0;
}
