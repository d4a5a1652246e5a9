/* Every thread sums a tree of its own; the trees differ much in size. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
	struct node *left, *right;
	long value;
};

static int P;
static struct node *root[1024];
static long total[1024];
static pthread_barrier_t bar;

static struct node *grow(int depth, unsigned *seed) {
	if (depth == 0)
		return NULL;
	struct node *n = malloc(sizeof *n);
	*seed = *seed * 1103515245 + 12345;
	n->value = *seed >> 16 & 7;
	n->left = grow(depth - 1, seed);
	n->right = grow(depth - 1, seed);
	return n;
}

static long sum(const struct node *n) {
	long s = n->value;
	if (n->left) /* CAUSE */
		s += sum(n->left); /* CAUSE */
	if (n->right) /* CAUSE */
		s += sum(n->right); /* CAUSE */
	return s;
}

static void *worker(void *arg) {
	long id = (long)arg;
	for (int pass = 0; pass < 3; pass++) {
		total[id] += sum(root[id]); /* CAUSE */
		pthread_barrier_wait(&bar); /* END */
	}
	return NULL;
}

int main(int argc, char **argv) {
	P = argc > 1 ? atoi(argv[1]) : 8;
	pthread_barrier_init(&bar, NULL, P);
	unsigned seed = 1;
	for (int i = 0; i < P; i++)
		root[i] = grow(8 + i % 6, &seed);
	pthread_t t[1024];
	for (long i = 0; i < P; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	long all = 0;
	for (int i = 0; i < P; i++) {
		pthread_join(t[i], NULL);
		all += total[i];
	}
	printf("%ld\n", all);
	return 0;
}
