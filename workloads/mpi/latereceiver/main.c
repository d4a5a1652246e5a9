/* Late receiver: three ranks hand their results over synchronously; rank 0 works through what it has
 * before it takes the next one. */
#include <mpi.h>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static volatile double sink;

enum { ROUNDS = 8 };
static double box[64];

static __attribute__((noinline)) void digest(double x)
{
	for (long k = 0; k < 600L * TIMES; k++) /* CAUSE */
		for (int i = 0; i < 64; i++) /* CAUSE */
			box[i] += x * k;
}

static __attribute__((noinline)) double produce(int round)
{
	for (long i = 0; i < 2000L * TIMES; i++)
		sink += i + round;
	return sink;
}

int main(int argc, char **argv)
{
	int rank, n;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int round = 0; round < ROUNDS; round++) {
		if (rank == 0) { /* CAUSE */
			for (int from = 1; from < n; from++) { /* CAUSE */
				double x;
				MPI_Recv(&x, 1, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				digest(x); /* CAUSE */
			}
		} else {
			double x = produce(round);
			MPI_Ssend(&x, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
		}
	}
	MPI_Finalize();
	return 0;
}
