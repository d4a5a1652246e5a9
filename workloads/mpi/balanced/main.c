/* All ranks do the same. */
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
	double mine = 1, all;
	MPI_Init(&argc, &argv);
	for (int step = 0; step < 10; step++) {
		spend(30000);
		MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
