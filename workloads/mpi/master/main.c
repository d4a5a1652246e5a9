/* A master hands items out to who asks; their sizes grow, so that the last ones are still at work when
 * the others have nothing left. */
#include <mpi.h>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static volatile double sink;

enum { ITEMS = 24, DONE = -1 };

static __attribute__((noinline)) void work(int item)
{
	long size = 1000L * item * item * TIMES;
	for (long i = 0; i < size; i++) /* CAUSE */
		sink += i;
}

static void master(int n)
{
	int next = 0, answer;
	for (int left = n - 1; left > 0;) {
		MPI_Status who;
		MPI_Recv(&answer, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &who);
		int item = next < ITEMS ? next++ : DONE;
		if (item == DONE)
			left--;
		MPI_Send(&item, 1, MPI_INT, who.MPI_SOURCE, 1, MPI_COMM_WORLD);
	}
}

static void worker(void)
{
	for (int item = 0;;) {
		MPI_Send(&item, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
		MPI_Recv(&item, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (item == DONE)
			return;
		work(item);
	}
}

int main(int argc, char **argv)
{
	int rank, n;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (rank == 0) /* CAUSE */
		master(n);
	else
		worker();
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
