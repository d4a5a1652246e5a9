/* An all-to-all in which one partner is slow: it has more to pack. */
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
	double out[64], in[64];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int step = 0; step < 10; step++) {
		spend(10000);
		int pieces = rank == 2 ? 9 : 3;
		for (int i = 0; i < pieces; i++) { /* CAUSE */
			spend(3000);
			out[i % n] = sink;
		}
		MPI_Alltoall(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, MPI_COMM_WORLD); /* END */
	}
	MPI_Finalize();
	return 0;
}
