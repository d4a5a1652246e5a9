/* A grid of 2 x 2: rows agree on a pivot among themselves (MPI_Cart_sub); the first column has a boundary
 * to treat besides. */
#include <mpi.h>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static volatile double sink;

static __attribute__((noinline)) void interior(void)
{
	for (long i = 0; i < 8000L * TIMES; i++)
		sink += i;
}

static __attribute__((noinline)) void boundary(void)
{
	for (long i = 0; i < 20000L * TIMES; i++)
		sink -= i;
}

int main(int argc, char **argv)
{
	int n, rank, dims[2] = {0, 2}, periodic[2] = {0, 0}, at[2], columns[2] = {0, 1};
	MPI_Comm grid, row;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Dims_create(n, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &grid);
	MPI_Comm_rank(grid, &rank);
	MPI_Cart_coords(grid, rank, 2, at);
	MPI_Cart_sub(grid, columns, &row);
	for (int step = 0; step < 15; step++) {
		double pivot = rank, best;
		interior();
		if (at[1] == 0) /* CAUSE */
			boundary();
		MPI_Allreduce(&pivot, &best, 1, MPI_DOUBLE, MPI_MAX, row);
	}
	MPI_Comm_free(&row);
	MPI_Comm_free(&grid);
	MPI_Finalize();
	return 0;
}
