/*
 * ocean: red-black relaxation on three levels of a multigrid with ghost rows,
 * row blocks per thread, a barrier of its own (sense reversing, on one word).
 * Every level's rows divide by the threads: balanced.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define LEVELS 3
#define COLS 258

struct level {
	int rows; /* interior rows */
	double *u, *f;
};

static int nthreads = 16, cycles = 8;
static struct level lev[LEVELS];
static double resid[64 * 8];
static atomic_int arrived, sense;

static void barrier(int *mine)
{
	*mine = !*mine;
	if (atomic_fetch_add(&arrived, 1) == nthreads - 1) { /* BARRIER */
		atomic_store(&arrived, 0);
		atomic_store(&sense, *mine);
	} else {
		while (atomic_load(&sense) != *mine) /* BARRIER */
			sched_yield(); /* BARRIER */
	}
}

static void load(int rows)
{
	unsigned s = 4;
	for (int l = 0; l < LEVELS; l++) {
		lev[l].rows = rows >> l;
		lev[l].u = calloc((size_t)(lev[l].rows + 2) * COLS, sizeof(double));
		lev[l].f = calloc((size_t)(lev[l].rows + 2) * COLS, sizeof(double));
		for (int i = 0; i < (lev[l].rows + 2) * COLS; i++) {
			s = s * 1664525 + 1013904223;
			lev[l].f[i] = (double)(s >> 8) / (1 << 24) - 0.5;
		}
	}
}

static double relax(struct level *l, long me, int colour)
{
	int per = l->rows / nthreads;
	double err = 0;
	for (int i = 1 + per * me; i <= per * (me + 1); i++) {
		double *up = l->u + (i - 1) * COLS, *row = up + COLS, *down = row + COLS;
		const double *f = l->f + i * COLS;
		for (int j = 1 + ((i + colour) & 1); j < COLS - 1; j += 2) {
			double v = 0.25 * (up[j] + down[j] + row[j - 1] + row[j + 1] - f[j]);
			double d = v - row[j];
			err += d * d;
			row[j] = v;
		}
	}
	return err;
}

static void restrict_to(struct level *fine, struct level *coarse, long me)
{
	int per = coarse->rows / nthreads;
	for (int i = 1 + per * me; i <= per * (me + 1); i++)
		for (int j = 1; j < COLS - 1; j++)
			coarse->f[i * COLS + j] = 0.5 * (fine->u[(2 * i - 1) * COLS + j] +
							 fine->u[2 * i * COLS + j]);
}

static void *worker(void *arg)
{
	long me = (long)arg;
	int mine = 0;
	for (int c = 0; c < cycles; c++)
		for (int l = 0; l < LEVELS; l++) {
			for (int k = 0; k < 2; k++) {
				resid[me * 8] = relax(&lev[l], me, 0);
				barrier(&mine); /* BARRIER */
				resid[me * 8] += relax(&lev[l], me, 1);
				barrier(&mine); /* END BARRIER */
			}
			if (l + 1 < LEVELS)
				restrict_to(&lev[l], &lev[l + 1], me);
			barrier(&mine); /* BARRIER */
		}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	double sum = 0;
	if (argc > 1)
		nthreads = atoi(argv[1]);
	load(argc > 2 ? atoi(argv[2]) : 256);
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < nthreads; i++)
		sum += resid[i * 8];
	printf("residual %.6f\n", sum);
	return 0;
}
