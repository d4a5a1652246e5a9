/* Half of a coupled model: the air, whose columns exchange with the sea after every step. Run as
 * mpirun -n 2 air : -n 2 sea. */
#include <mpi.h>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static volatile double wind;

static __attribute__((noinline)) void physics(void)
{
	for (long i = 0; i < 30000L * TIMES; i++) /* CAUSE */
		wind += i;
}

int main(int argc, char **argv)
{
	int rank, n;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int step = 0; step < 12; step++) {
		double flux = step, heat;
		physics(); /* CAUSE */
		MPI_Sendrecv(&flux, 1, MPI_DOUBLE, rank + n / 2, 1, &heat, 1, MPI_DOUBLE, rank + n / 2, 2, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
