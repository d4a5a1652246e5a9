/* Ranks that are uneven; each reads of its neighbour's memory, under a lock of all. */
#include <mpi.h>

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
	double *base, got;
	MPI_Comm node;
	MPI_Win w;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
	*base = rank;
	MPI_Win_lock_all(0, w);
	for (int step = 0; step < 10; step++) {
		for (int row = 0; row < 4 + rank; row++) /* CAUSE */
			spend(4000);
		MPI_Get(&got, 1, MPI_DOUBLE, (rank + 1) % n, 0, 1, MPI_DOUBLE, w);
		MPI_Win_flush_all(w);
		MPI_Barrier(MPI_COMM_WORLD); /* END */
	}
	MPI_Win_unlock_all(w);
	MPI_Win_free(&w);
	MPI_Finalize();
	return 0;
}
