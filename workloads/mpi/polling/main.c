/* Who waits here does it by asking again and again: MPI_Iprobe and MPI_Test. */
#include <mpi.h>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static volatile double sink;

static __attribute__((noinline)) void assemble(void)
{
	for (long i = 0; i < 40000L * TIMES; i++)
		sink += i;
}

static __attribute__((noinline)) void solve(void)
{
	for (long i = 0; i < 8000L * TIMES; i++)
		sink -= i;
}

static double ask(void)
{
	double x;
	int there = 0;
	MPI_Request r;
	while (!there)
		MPI_Iprobe(0, 4, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
	MPI_Irecv(&x, 1, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, &r);
	for (there = 0; !there;)
		MPI_Test(&r, &there, MPI_STATUS_IGNORE);
	return x;
}

int main(int argc, char **argv)
{
	int rank, n;
	double x = 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int step = 0; step < 8; step++) {
		if (rank == 0) { /* CAUSE */
			assemble();
			for (int to = 1; to < n; to++)
				MPI_Send(&x, 1, MPI_DOUBLE, to, 4, MPI_COMM_WORLD);
		} else {
			x = ask();
		}
		solve();
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
