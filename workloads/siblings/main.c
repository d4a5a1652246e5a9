/* Two loops side by side over two lists of each cell, which are long in the same cells; a third loop, of another length in other
 * threads, takes more than either, and less than both. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
	struct node *next;
	double v;
};
static struct node *near[1024], *far[1024];
static double sum[1024];
static int P;
static pthread_barrier_t bar;

static double energy(struct node *n, double x)
{
	double s = 0;
	for (int i = 0; i < 20; i++)
		s += n->v / (x + i + 1);
	return s;
}

static void *work(void *arg)
{
	long me = (long)arg;
	for (int step = 0; step < 6; step++) {
		double s = 0;
		for (struct node *n = near[me]; n; n = n->next) /* CAUSE */
			s += energy(n, 1);
		for (struct node *n = far[me]; n; n = n->next) /* CAUSE */
			s += energy(n, 2);
		for (int i = 0; i < 300 + (me % 4 == 1 ? 1500 : 40 * (me % 3)); i++) /* THIRD */
			s += 1.0 / (i + 1);
		sum[me] = s;
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

static struct node *list(int n)
{
	struct node *head = NULL;
	while (n--) {
		struct node *next = malloc(sizeof *next);
		next->v = n;
		next->next = head;
		head = next;
	}
	return head;
}

int main(int argc, char **argv)
{
	pthread_t t[1024];
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	for (int i = 0; i < P; i++) {
		near[i] = list(i % 4 == 1 ? 70 : 30);
		far[i] = list(i % 4 == 1 ? 75 : 34);
	}
	for (long i = 1; i < P; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	work(0);
	for (int i = 1; i < P; i++)
		pthread_join(t[i], NULL);
	printf("%g\n", sum[0]);
	return 0;
}
