/* A pipeline: a rank works on a step when the rank before it has done the same step, and the step ends
 * for all together. All ranks do equally much, one after the other. */
#include <mpi.h>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static volatile double sink;

static __attribute__((noinline)) double stage(double x)
{
	for (long i = 0; i < 20000L * TIMES; i++) /* CAUSE */
		sink += x * i;
	return sink;
}

int main(int argc, char **argv)
{
	int rank, n;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int step = 0; step < 10; step++) {
		double x = step;
		if (rank > 0)
			MPI_Recv(&x, 1, MPI_DOUBLE, rank - 1, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		x = stage(x); /* CAUSE */
		if (rank < n - 1)
			MPI_Send(&x, 1, MPI_DOUBLE, rank + 1, step, MPI_COMM_WORLD);
		MPI_Bcast(&x, 1, MPI_DOUBLE, n - 1, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
