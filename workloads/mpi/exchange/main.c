/* Balanced: all ranks do the same, hand a block on by messages, and nobody waits long for anybody. */
#include <mpi.h>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static volatile double sink;

static double a[256], b[256];

static __attribute__((noinline)) void smooth(void)
{
	for (long t = 0; t < 60L * TIMES; t++)
		for (int i = 1; i < 255; i++)
			a[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * b[i];
}

int main(int argc, char **argv)
{
	int rank, n;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int step = 0; step < 20; step++) {
		MPI_Request r[2];
		smooth();
		MPI_Isend(a, 256, MPI_DOUBLE, (rank + 1) % n, step, MPI_COMM_WORLD, &r[0]);
		MPI_Irecv(b, 256, MPI_DOUBLE, (rank + n - 1) % n, step, MPI_COMM_WORLD, &r[1]);
		smooth();
		MPI_Wait(&r[1], MPI_STATUS_IGNORE);
		MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
