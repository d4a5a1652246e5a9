/* A late sender: rank 0 computes long before it sends what the others wait for. */
#include <mpi.h>
#include <stdio.h>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static volatile double sink;

static __attribute__((noinline)) void spend(long rounds)
{
	for (long i = 0; i < rounds * TIMES; i++)
		sink += i;
}

int main(int argc, char **argv)
{
	int rank, n;
	double x = 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int step = 0; step < 10; step++) {
		if (rank == 0) { /* CAUSE */
			spend(30000);
			for (int to = 1; to < n; to++)
				MPI_Send(&x, 1, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
		} else {
			MPI_Recv(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		spend(10000);
		MPI_Barrier(MPI_COMM_WORLD); /* END */
	}
	MPI_Finalize();
	return 0;
}
