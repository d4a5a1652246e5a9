/* Pairs exchange blocks by persistent requests; only one of each pair filters its block. */
#include <mpi.h>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static volatile double sink;

enum { SIZE = 512 };
static double out[SIZE], in[SIZE];

static __attribute__((noinline)) void fill(int step)
{
	for (long k = 0; k < 5L * TIMES; k++)
		for (int i = 0; i < SIZE; i++)
			out[i] += step + k;
}

static __attribute__((noinline)) void filter(void)
{
	for (long k = 0; k < 20L * TIMES; k++)
		for (int i = 1; i < SIZE; i++)
			out[i] = 0.5 * (out[i - 1] + in[i]);
}

int main(int argc, char **argv)
{
	int rank;
	MPI_Request r[2];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Send_init(out, SIZE, MPI_DOUBLE, rank ^ 1, 9, MPI_COMM_WORLD, &r[0]);
	MPI_Recv_init(in, SIZE, MPI_DOUBLE, rank ^ 1, 9, MPI_COMM_WORLD, &r[1]);
	for (int step = 0; step < 20; step++) {
		fill(step);
		if (rank % 2 == 0) /* CAUSE */
			filter();
		MPI_Startall(2, r);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
	MPI_Finalize();
	return 0;
}
