/* Every thread takes the same branch as often one way as the other; in some the order is
 * regular, in some it is not, so that the branch is mispredicted. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 30000 };

static int P;
static long out[1024];
static pthread_barrier_t bar;

static void *worker(void *arg) {
	long id = (long)arg, even = 0, odd = 0;
	unsigned x = 12345 + (unsigned)id, random = id % 4 == 3;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < STEPS; i++) {
			x = x * 1103515245 + 12345;
			unsigned bit = random ? x >> 16 & 1 : i & 1;
			if (bit) /* CAUSE */
				__asm__ volatile("inc %0" : "+r"(odd));
			else
				__asm__ volatile("inc %0" : "+r"(even));
		}
		out[id] = even - odd;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", out[0]);
	return 0;
}
