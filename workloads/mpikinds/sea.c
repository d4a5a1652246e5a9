/* The other half of a coupled model: the sea, which is done sooner and waits for the air. */
#include <mpi.h>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static volatile double salt;

static __attribute__((noinline)) void currents(void)
{
	for (long i = 0; i < 9000L * TIMES; i++)
		salt += i;
}

int main(int argc, char **argv)
{
	int rank, n;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int step = 0; step < 12; step++) {
		double heat = step, flux;
		currents();
		MPI_Sendrecv(&heat, 1, MPI_DOUBLE, rank - n / 2, 2, &flux, 1, MPI_DOUBLE, rank - n / 2, 1, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
