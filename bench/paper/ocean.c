/* A five-point stencil, rows dealt out evenly; the threads in the middle get
 * rows of two neighbours, the outer ones of one. */
#include "../../workloads/plant.h"

enum { SIDE = 258 };
static double grid[2][SIDE][SIDE];

static void setup(void)
{
	for (int i = 0; i < SIDE; i++)
		grid[0][i][0] = grid[1][i][0] = i;
}

static void *worker(void *arg)
{
	long id = (long)arg, lo = 1 + 256 * id / P, hi = 1 + 256 * (id + 1) / P;
	for (int round = 0; round < 6; round++) {
		double (*a)[SIDE] = grid[round % 2], (*b)[SIDE] = grid[1 - round % 2];
		for (long i = lo; i < hi; i++)
			for (long j = 1; j < SIDE - 1; j++)
				b[i][j] = 0.2 * (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
		pthread_barrier_wait(&bar); /* SECTION */
	}
	result[id * 16] = (long)grid[0][lo][1];
	return NULL;
}
