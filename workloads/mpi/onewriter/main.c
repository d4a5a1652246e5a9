/* One rank writes what all have found, and the others wait for it. */
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
	int rank;
	char line[64];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int step = 0; step < 10; step++) {
		spend(8000);
		if (rank == 0) /* CAUSE */
			for (int i = 0; i < 200 * TIMES; i++)
				snprintf(line, sizeof line, "%d %g\n", i, sink);
		MPI_Barrier(MPI_COMM_WORLD); /* END */
	}
	MPI_Finalize();
	return 0;
}
