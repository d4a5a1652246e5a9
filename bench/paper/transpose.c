/* The transpose of an FFT: every thread writes its rows from the columns, and so
 * reads what all others have written. */
#include "../../workloads/plant.h"

enum { SIDE = 256 };
static double m[2][SIDE][SIDE];

static void setup(void) {}

static void *worker(void *arg)
{
	long id = (long)arg, lo = SIDE * id / P, hi = SIDE * (id + 1) / P;
	for (int round = 0; round < 4; round++) {
		double (*a)[SIDE] = m[round % 2], (*b)[SIDE] = m[1 - round % 2];
		for (long i = lo; i < hi; i++)
			for (long j = 0; j < SIDE; j++)
				b[i][j] = a[j][i] * 0.5 + 1;
		pthread_barrier_wait(&bar); /* SECTION */
	}
	result[id * 16] = (long)m[0][lo][0];
	return NULL;
}
