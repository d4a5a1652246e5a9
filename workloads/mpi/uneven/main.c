/* Domains of uneven size: each rank has one row more than the one before. */
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
	double mine, all;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int step = 0; step < 10; step++) {
		for (int row = 0; row < 4 + rank; row++) /* CAUSE */
			spend(4000);
		mine = sink;
		MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* END */
	}
	MPI_Finalize();
	return 0;
}
