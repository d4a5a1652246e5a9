/*
 * triangle: counts triangles by intersecting sorted neighbour lists. Vertices are
 * ordered by degree and split evenly, the threads with the last vertices have the
 * long lists: more neighbours to intersect with, and longer merges.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int nthreads = 16, n = 8192;
static int *ptr, *adj;
static long count[64 * 8];

static int cmp(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int degree(int v)
{
	return v < n - n / 32 ? 12 : 96;
}

static void load(void)
{
	unsigned s = 29;
	ptr = malloc((n + 1) * sizeof *ptr);
	ptr[0] = 0;
	for (int v = 0; v < n; v++)
		ptr[v + 1] = ptr[v] + degree(v);
	adj = malloc(ptr[n] * sizeof *adj);
	for (int v = 0; v < n; v++) {
		for (int e = ptr[v]; e < ptr[v + 1]; e++) {
			s = s * 1664525 + 1013904223;
			adj[e] = (s >> 8) % n;
		}
		qsort(adj + ptr[v], ptr[v + 1] - ptr[v], sizeof *adj, cmp);
	}
}

static int common(const int *a, const int *enda, const int *b, const int *endb)
{
	int c = 0;
	while (a < enda && b < endb) { /* CAUSE */
		if (*a == *b) {
			c++;
			a++;
			b++;
		} else if (*a < *b) {
			a++;
		} else {
			b++;
		}
	}
	return c;
}

static void *worker(void *arg)
{
	long me = (long)arg, c = 0;
	for (int u = n / nthreads * me; u < n / nthreads * (me + 1); u++)
		for (int e = ptr[u]; e < ptr[u + 1]; e++) { /* CAUSE */
			int v = adj[e];
			c += common(adj + ptr[u], adj + ptr[u + 1], adj + ptr[v], adj + ptr[v + 1]);
		}
	count[me * 8] = c;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	long sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		n = 1 << atoi(argv[2]);
	load();
	for (long i = 1; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker((void *)0);
	for (int i = 1; i < nthreads; i++)
		pthread_join(t[i], NULL); /* END */
	for (int i = 0; i < nthreads; i++)
		sum += count[i * 8];
	printf("%ld wedges closed\n", sum);
	return 0;
}
