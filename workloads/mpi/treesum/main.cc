// A sum over a tree that the program builds itself from messages: those who have handed their part on
// stand idle while the others merge.
#include <mpi.h>
#include <vector>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static volatile double sink;

static __attribute__((noinline)) void merge(std::vector<double> &mine, const std::vector<double> &other)
{
	for (long t = 0; t < 60L * TIMES; t++)
		for (std::size_t i = 0; i < mine.size(); i++) // CAUSE
			mine[i] += other[i] / (1.0 + t);
}

int main(int argc, char **argv)
{
	int rank, n;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	std::vector<double> mine(1000, rank), other(1000);
	for (int round = 0; round < 10; round++) {
		for (int half = 1; half < n; half *= 2) { // CAUSE
			if (rank % (2 * half)) { // CAUSE
				MPI_Send(mine.data(), 1000, MPI_DOUBLE, rank - half, half, MPI_COMM_WORLD);
				break;
			}
			MPI_Recv(other.data(), 1000, MPI_DOUBLE, rank + half, half, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			merge(mine, other); // CAUSE
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
