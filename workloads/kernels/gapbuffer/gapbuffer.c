/*
 * gapbuffer: every thread keeps sorted tables and inserts the same number of keys
 * into them, moving what lies behind the place with memmove. The tables of the
 * last shard are full ones, those of the others nearly empty.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLES 64

struct table {
	int n, top;
	int *key;
};

static int nthreads = 16, inserts = 512;
static struct table tab[TABLES];

static void load(void)
{
	for (int t = 0; t < TABLES; t++) {
		int fill = t < TABLES - TABLES / 32 ? 200 : 65536;
		tab[t].key = malloc((fill + inserts + 1) * sizeof(int));
		for (int i = 0; i < fill; i++)
			tab[t].key[i] = 100 * i;
		tab[t].n = fill;
		tab[t].top = 100 * fill;
	}
}

/* The place where k belongs, by bisection over a fixed number of halvings. */
static int place(const struct table *t, int k)
{
	int lo = 0, len = 1 << 17;
	while (len > 0) {
		int mid = lo + len - 1;
		if (mid < t->n && t->key[mid] < k)
			lo = mid + 1;
		len >>= 1;
	}
	return lo;
}

static void insert(struct table *t, int k)
{
	int at = place(t, k);
	memmove(t->key + at + 1, t->key + at, (t->n - at) * sizeof(int)); /* CAUSE */
	t->key[at] = k;
	t->n++;
}

static void *worker(void *arg)
{
	long me = (long)arg;
	for (int t = TABLES / nthreads * me; t < TABLES / nthreads * (me + 1); t++) {
		unsigned s = t + 1;
		for (int i = 0; i < inserts; i++) {
			s = s * 1664525 + 1013904223;
			insert(&tab[t], (s >> 8) % tab[t].top);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	long sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		inserts = atoi(argv[2]);
	load();
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL); /* END */
	for (int i = 0; i < TABLES; i++)
		for (int k = 1; k < tab[i].n; k++)
			sum += tab[i].key[k] < tab[i].key[k - 1];
	printf("%ld out of order\n", sum);
	return sum != 0;
}
