/* Two halves with communicators of their own; in one of them the ranks are uneven. */
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
	MPI_Comm half;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	for (int step = 0; step < 10; step++) {
		int rows = rank % 2 && rank > 1 ? 9 : 3;
		for (int row = 0; row < rows; row++) /* CAUSE */
			spend(4000);
		MPI_Barrier(half); /* END */
	}
	MPI_Finalize();
	return 0;
}
