/*
 * skiplist: lookups in a skip list that was built before, every thread in a key
 * range of its own. The upper keys were loaded in bulk without towers, so that
 * the search ends in a long walk along the lowest level there.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX 16384

struct node {
	int key, level;
	struct node *next[];
};

struct stats {
	int trace;
	long events;
};

static int nthreads = 16, lookups = 65536;
static int nkeys = 16384;
static struct node *head;
static struct stats stats;
static long found[64 * 8];
static pthread_barrier_t bar;

static unsigned rnd(unsigned long long *s)
{
	*s = *s * 6364136223846793005ULL + 1442695040888963407ULL;
	return *s >> 33;
}

static struct node *make(int key, int level)
{
	struct node *x = calloc(1, sizeof *x + (level + 1) * sizeof x->next[0]);
	x->key = key;
	x->level = level;
	return x;
}

static void load(void)
{
	struct node *last[16];
	head = make(-1, 15);
	for (int l = 0; l < 16; l++)
		last[l] = head;
	for (int k = 0; k < nkeys; k++) {
		int level = 0;
		while (level < 15 && (k >> level & 1))
			level++;
		if (k % (nkeys / 32) && k >= nkeys - nkeys / 32)
			level = k % 256 == 255 ? 1 : 0;
		struct node *x = make(k, level);
		for (int l = 0; l <= level; l++) {
			last[l]->next[l] = x;
			last[l] = x;
		}
	}
}

/* Sizes of the towers below this node, in the shape a statistics hook has. */
static int tower(const struct node *x)
{
	int sum = 0;
	for (int i = MAX >> 1; i > x->level; i >>= 1) {
		sum += i & 3;
		if (stats.trace)
			stats.events++;
	}
	return sum;
}

static const struct node *find(int key)
{
	const struct node *x = head;
	for (int l = 15; l >= 0; l--)
		while (x->next[l] && x->next[l]->key < key) /* CAUSE */
			x = x->next[l]; /* CAUSE */
	return x->next[0];
}

static void *worker(void *arg)
{
	long me = (long)arg, sum = 0;
	unsigned long long s = 900 + me;
	int lo = nkeys / nthreads * me, span = nkeys / nthreads;
	for (int k = 0; k < lookups / nthreads; k++) {
		const struct node *x = find(lo + rnd(&s) % span);
		if (x)
			sum += x->key + tower(x);
	}
	found[me * 8] = sum;
	pthread_barrier_wait(&bar); /* END */
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	long sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		lookups = atoi(argv[2]);
	stats.trace = argc > 3;
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < nthreads; i++)
		sum += found[i * 8];
	printf("sum of keys found %ld, events %ld\n", sum, stats.events);
	return 0;
}
