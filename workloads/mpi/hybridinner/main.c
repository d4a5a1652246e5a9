/* Ranks with threads; the ranks have the same work, the threads of each have not. */
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

#include <omp.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int step = 0; step < 6; step++) {
#pragma omp parallel num_threads(4)
		for (int k = 0; k < 2 + 2 * omp_get_thread_num(); k++) /* CAUSE */
			spend(20000);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
