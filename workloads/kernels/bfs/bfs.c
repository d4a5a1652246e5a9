/*
 * bfs: breadth-first search by levels. Every thread looks at its own range of
 * vertices and expands those on the frontier; a vertex is claimed with compare
 * and swap, which hardly ever fails. Hubs were numbered first: the first
 * thread's vertices have most of the edges.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static int nthreads = 16, n = 1 << 15, hubs = 512;
static int *ptr, *edge;
static atomic_int *level;
static atomic_int found[64];
static pthread_barrier_t bar;

static unsigned rnd(unsigned long long *s)
{
	*s = *s * 6364136223846793005ULL + 1442695040888963407ULL;
	return *s >> 33;
}

static int degree(int v)
{
	return v < hubs ? 1024 : 16;
}

static void load(void)
{
	unsigned long long s = 64;
	ptr = malloc((n + 1) * sizeof *ptr);
	ptr[0] = 0;
	for (int v = 0; v < n; v++)
		ptr[v + 1] = ptr[v] + degree(v);
	edge = malloc(ptr[n] * sizeof *edge);
	level = malloc(n * sizeof *level);
	for (int v = 0; v < n; v++) {
		for (int e = ptr[v]; e < ptr[v + 1]; e++)
			edge[e] = rnd(&s) % n;
		atomic_init(&level[v], -1);
	}
}

static int expand(int v, int depth)
{
	int got = 0;
	for (int e = ptr[v]; e < ptr[v + 1]; e++) { /* CAUSE */
		int w = edge[e], want = -1;
		if (atomic_load_explicit(&level[w], memory_order_relaxed) != -1)
			continue;
		if (atomic_compare_exchange_strong(&level[w], &want, depth + 1))
			got++;
	}
	return got;
}

static void *worker(void *arg)
{
	long me = (long)arg;
	int lo = n / nthreads * me, hi = n / nthreads * (me + 1);
	for (int depth = 0;; depth++) {
		int got = 0;
		for (int v = lo; v < hi; v++)
			if (atomic_load_explicit(&level[v], memory_order_relaxed) == depth)
				got += expand(v, depth);
		atomic_fetch_add(&found[depth], got);
		pthread_barrier_wait(&bar); /* END */
		if (atomic_load(&found[depth]) == 0)
			return NULL;
	}
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	int reached = 0, deepest = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		n = 1 << atoi(argv[2]);
	load();
	atomic_store(&level[n - 1], 0);
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int v = 0; v < n; v++) {
		reached += level[v] >= 0;
		if (level[v] > deepest)
			deepest = level[v];
	}
	printf("%d of %d reached, depth %d\n", reached, n, deepest);
	return 0;
}
