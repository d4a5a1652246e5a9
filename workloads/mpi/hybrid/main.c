/* Ranks with threads; the ranks have uneven work, the threads of a rank have the same. */
#include <mpi.h>
#include <stdio.h>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static __attribute__((noinline)) void spend(long rounds)
{
	for (long i = 0; i < rounds * TIMES; i++)
		__asm__ volatile("" : : "r"(i));
}

int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int step = 0; step < 6; step++) {
		for (int block = 0; block < 1 + rank; block++) { /* CAUSE */
#pragma omp parallel num_threads(2)
			spend(60000);
		}
		MPI_Barrier(MPI_COMM_WORLD); /* END */
	}
	MPI_Finalize();
	return 0;
}
