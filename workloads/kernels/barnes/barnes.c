/*
 * barnes: Barnes-Hut n-body step. Bodies are read halo first, core last, the
 * octree is built before the threads start, and every thread owns a contiguous
 * range of bodies. A body of the dense core opens many more cells than one of
 * the halo, so the threads with the last ranges work longest.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THETA2 0.36
#define EPS 1e-4
#define STEPS 2

struct body {
	double m, x[3], v[3], a[3];
};

struct cell {
	double m, x[3], mid[3], half;
	struct cell *kid[8];
	struct body *leaf;
};

static int nthreads = 16, nbody = 4096;
static struct body *bodies;
static struct cell *root, *pool;
static int used;
static pthread_barrier_t bar;
static unsigned long long seed = 42;

static double uniform(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(seed >> 33) / 2147483648.0;
}

static struct cell *new_cell(const double mid[3], double half)
{
	struct cell *c = &pool[used++];
	for (int d = 0; d < 3; d++)
		c->mid[d] = mid[d];
	c->half = half;
	return c;
}

static void insert(struct cell *c, struct body *b)
{
	for (;;) {
		int k = 0;
		double mid[3];
		for (int d = 0; d < 3; d++) {
			int up = b->x[d] > c->mid[d];
			k |= up << d;
			mid[d] = c->mid[d] + (up ? 0.5 : -0.5) * c->half;
		}
		if (!c->kid[k]) {
			c->kid[k] = new_cell(mid, c->half / 2);
			c->kid[k]->leaf = b;
			return;
		}
		c = c->kid[k];
		if (c->leaf) {
			struct body *old = c->leaf;
			c->leaf = NULL;
			insert(c, old);
		}
	}
}

static void gather(struct cell *c)
{
	if (c->leaf) {
		c->m = c->leaf->m;
		for (int d = 0; d < 3; d++)
			c->x[d] = c->leaf->x[d];
		return;
	}
	for (int k = 0; k < 8; k++) {
		if (!c->kid[k])
			continue;
		gather(c->kid[k]);
		c->m += c->kid[k]->m;
		for (int d = 0; d < 3; d++)
			c->x[d] += c->kid[k]->m * c->kid[k]->x[d];
	}
	for (int d = 0; d < 3; d++)
		c->x[d] /= c->m;
}

static void load(void)
{
	double mid[3] = {0, 0, 0};
	bodies = calloc(nbody, sizeof *bodies);
	pool = calloc(16 * nbody + 64, sizeof *pool);
	root = new_cell(mid, 16);
	for (int i = 0; i < nbody; i++) {
		double r = i < nbody * 3 / 4 ? 8.0 : 0.25;
		bodies[i].m = 1.0 / nbody;
		for (int d = 0; d < 3; d++)
			bodies[i].x[d] = (uniform() - 0.5) * 2 * r;
		insert(root, &bodies[i]);
	}
	gather(root);
}

static void walk(const struct cell *c, struct body *b)
{
	double dx[3], r2 = EPS;
	for (int d = 0; d < 3; d++) {
		dx[d] = c->x[d] - b->x[d];
		r2 += dx[d] * dx[d];
	}
	if (c->leaf || 4 * c->half * c->half < THETA2 * r2) { /* CAUSE */
		double f = c->m / (r2 * sqrt(r2));
		for (int d = 0; d < 3; d++)
			b->a[d] += f * dx[d];
		return;
	}
	for (int k = 0; k < 8; k++) /* CAUSE */
		if (c->kid[k]) /* CAUSE */
			walk(c->kid[k], b); /* CAUSE */
}

static void *worker(void *arg)
{
	long me = (long)arg;
	int lo = nbody * me / nthreads, hi = nbody * (me + 1) / nthreads;
	for (int s = 0; s < STEPS; s++) {
		for (int i = lo; i < hi; i++)
			walk(root, &bodies[i]);
		pthread_barrier_wait(&bar); /* END */
		for (int i = lo; i < hi; i++)
			for (int d = 0; d < 3; d++) {
				bodies[i].v[d] += 1e-3 * bodies[i].a[d];
				bodies[i].x[d] += 1e-3 * bodies[i].v[d];
				bodies[i].a[d] = 0;
			}
		pthread_barrier_wait(&bar);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	if (argc > 1)
		nthreads = atoi(argv[1]);
	if (argc > 2)
		nbody = atoi(argv[2]);
	load();
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 1; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	worker((void *)0);
	for (int i = 1; i < nthreads; i++)
		pthread_join(t[i], NULL);
	double e = 0;
	for (int i = 0; i < nbody; i++)
		for (int d = 0; d < 3; d++)
			e += bodies[i].v[d] * bodies[i].v[d];
	printf("kinetic %.6g, %d cells\n", e, used);
	return 0;
}
