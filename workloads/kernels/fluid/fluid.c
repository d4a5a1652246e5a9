/*
 * fluid: smoothed particle hydrodynamics on a grid of cells, rows of cells per
 * thread. The fluid has come to rest at the bottom: cells of the last rows hold
 * longer lists of particles, and every particle meets those of nine cells.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define W 64
#define H 64
#define STEPS 5

struct particle {
	float x, y, vx, vy, rho;
	struct particle *next;
};

static struct particle *grid[H][W];
static struct particle *parts;
static unsigned nparts;
static int nthreads = 16;
static pthread_barrier_t bar;
static unsigned long long seed = 99;

static float uniform(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (float)(seed >> 40) / 16777216.0f;
}

/* The input is a text of "x y" pairs as a simulation file has them. */
static char *make_input(unsigned n, size_t *len)
{
	char *text = malloc(n * 24 + 1);
	size_t k = 0;
	for (unsigned i = 0; i < n; i++) {
		float x = uniform() * W, y = uniform() * H;
		if (uniform() < 0.5f)
			y = H - 1e-3f - uniform() * (H / 4);
		k += sprintf(text + k, "%.3f %.3f\n", x, y);
	}
	*len = k;
	return text;
}

static void load(unsigned n)
{
	size_t len;
	char *text = make_input(n, &len), *p = text;
	parts = calloc(n, sizeof *parts);
	for (nparts = 0; nparts < n && p < text + len; nparts++) {
		struct particle *q = &parts[nparts];
		q->x = strtof(p, &p);
		q->y = strtof(p, &p);
		int cx = (int)q->x % W, cy = (int)q->y % H;
		q->next = grid[cy][cx];
		grid[cy][cx] = q;
		p++;
	}
	free(text);
}

static void density_of_cell(int cy, int cx)
{
	for (int dy = -1; dy <= 1; dy++)
		for (int dx = -1; dx <= 1; dx++) {
			struct particle *other = grid[(cy + dy + H) % H][(cx + dx + W) % W];
			for (struct particle *a = grid[cy][cx]; a; a = a->next) { /* CAUSE */
				float rho = 0;
				for (struct particle *b = other; b; b = b->next) { /* CAUSE */
					float ex = a->x - b->x, ey = a->y - b->y;
					float q = 1.0f - ex * ex - ey * ey;
					rho += q > 0 ? q * q * q : 0;
				}
				a->rho += rho;
			}
		}
}

static void *worker(void *arg)
{
	long me = (long)arg;
	int lo = H * me / nthreads, hi = H * (me + 1) / nthreads;
	for (int s = 0; s < STEPS; s++) {
		for (int y = lo; y < hi; y++)
			for (int x = 0; x < W; x++)
				density_of_cell(y, x);
		pthread_barrier_wait(&bar); /* END */
		int first = (long)nparts * me / nthreads, last = (long)nparts * (me + 1) / nthreads;
		for (int i = first; i < last; i++) {
			parts[i].vy += 0.01f / (1.0f + parts[i].rho);
			parts[i].vx *= 0.99f;
		}
		pthread_barrier_wait(&bar);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	double sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	load(argc > 2 ? atoi(argv[2]) : 12000);
	pthread_barrier_init(&bar, NULL, nthreads);
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (unsigned i = 0; i < nparts; i++)
		sum += parts[i].vy;
	printf("%u particles, momentum %.5f\n", nparts, sum);
	return 0;
}
