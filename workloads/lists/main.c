/* Work lists of unequal length. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct item {
	struct item *next;
	int weight;
};

static int P;
static struct item *list[1024];
static double done[1024];
static pthread_barrier_t bar;

static double handle(const struct item *it) {
	double s = it->weight;
	for (int i = 0; i < 50; i++)
		s = s * 0.99 + i;
	return s;
}

static void *worker(void *arg) {
	long id = (long)arg;
	for (int round = 0; round < 4; round++) {
		double s = 0;
		for (const struct item *it = list[id]; it != NULL; it = it->next) /* CAUSE */
			s += handle(it);
		done[id] += s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	for (int i = 0; i < P; i++)
		for (int k = 0; k < 100 + i * i % 37 * 20; k++) {
			struct item *it = malloc(sizeof *it);
			it->weight = k;
			it->next = list[i];
			list[i] = it;
		}
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", done[P - 1]);
	return 0;
}
