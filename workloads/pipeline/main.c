/* A pipeline: one thread reads, some cut, some rank, one writes; queues between
 * them, with conditions for "not empty" and "not full". Ranking is slow. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 16 };

struct queue {
	double item[ROOM];
	int head, n, writers;
	pthread_mutex_t m;
	pthread_cond_t more, room;
};

static struct queue cuts, ranks, outs;
static int P;
static double total;

static void init(struct queue *q, int writers) {
	q->writers = writers;
	pthread_mutex_init(&q->m, NULL);
	pthread_cond_init(&q->more, NULL);
	pthread_cond_init(&q->room, NULL);
}

static void put(struct queue *q, double x) {
	pthread_mutex_lock(&q->m);
	while (q->n == ROOM)
		pthread_cond_wait(&q->room, &q->m);
	q->item[(q->head + q->n++) % ROOM] = x;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->m);
}

static int get(struct queue *q, double *x) {
	pthread_mutex_lock(&q->m);
	while (q->n == 0 && q->writers > 0)
		pthread_cond_wait(&q->more, &q->m);
	int found = q->n > 0;
	if (found) {
		*x = q->item[q->head];
		q->head = (q->head + 1) % ROOM;
		q->n--;
		pthread_cond_signal(&q->room);
	}
	pthread_mutex_unlock(&q->m);
	return found;
}

static void done(struct queue *q) {
	pthread_mutex_lock(&q->m);
	if (--q->writers == 0)
		pthread_cond_broadcast(&q->more);
	pthread_mutex_unlock(&q->m);
}

static void *reader(void *arg) {
	for (int i = 0; i < 50 * P; i++)
		put(&cuts, i);
	done(&cuts);
	return arg;
}

static void *cutter(void *arg) {
	double x;
	while (get(&cuts, &x)) {
		for (int i = 0; i < 500; i++)
			x = x * 0.999 + i;
		put(&ranks, x);
	}
	done(&ranks);
	return arg;
}

static void *ranker(void *arg) { /* CAUSE */
	double x;
	while (get(&ranks, &x)) { /* CAUSE */
		for (int i = 0; i < 4000; i++) /* CAUSE */
			x = x * 0.998 + i;
		put(&outs, x);
	}
	done(&outs);
	return arg;
}

static void *writer(void *arg) {
	double x;
	while (get(&outs, &x))
		total += x;
	return arg;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	int n = (P - 2) / 2, k = 0;
	pthread_t t[1024];
	init(&cuts, 1);
	init(&ranks, n);
	init(&outs, n);
	pthread_create(&t[k++], NULL, reader, NULL);
	for (int i = 0; i < n; i++)
		pthread_create(&t[k++], NULL, cutter, NULL);
	for (int i = 0; i < n; i++)
		pthread_create(&t[k++], NULL, ranker, NULL);
	pthread_create(&t[k++], NULL, writer, NULL);
	for (int i = 0; i < k; i++)
		pthread_join(t[i], NULL); /* END */
	printf("%d\n", total > 0);
	return 0;
}
