// Keys go to the rank whose bucket they fall into; most fall into the first ones.
#include <mpi.h>
#include <numeric>
#include <vector>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static volatile double sink;

static unsigned seed;
static unsigned draw() { return seed = seed * 1103515245u + 12345u, seed >> 8 & 0xffff; }

static __attribute__((noinline)) long insert(std::vector<int> &keys)
{
	long moves = 0;
	for (long t = 0; t < TIMES; t++)
		for (std::size_t i = 1; i < keys.size(); i++) // CAUSE
			for (std::size_t k = i; k > 0 && (keys[k - 1] > keys[k]) == (t % 2 == 0); k--, moves++) // CAUSE
				std::swap(keys[k - 1], keys[k]);
	return moves;
}

int main(int argc, char **argv)
{
	int rank, n;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	seed = rank + 1;
	for (int round = 0; round < 3; round++) {
		std::vector<std::vector<int>> bucket(n);
		for (int i = 0; i < 400; i++) {
			unsigned long x = draw(), y = draw();
			bucket[(x * y >> 16) * n >> 16].push_back(int(x * y >> 16));
		}
		std::vector<int> give(n), take(n), gat(n), tat(n), out, in;
		for (int r = 0; r < n; r++) {
			give[r] = int(bucket[r].size()), gat[r] = int(out.size());
			out.insert(out.end(), bucket[r].begin(), bucket[r].end());
		}
		MPI_Alltoall(give.data(), 1, MPI_INT, take.data(), 1, MPI_INT, MPI_COMM_WORLD);
		for (int r = 1; r < n; r++)
			tat[r] = tat[r - 1] + take[r - 1];
		in.resize(tat[n - 1] + take[n - 1]);
		MPI_Alltoallv(out.data(), give.data(), gat.data(), MPI_INT, in.data(), take.data(), tat.data(), MPI_INT, MPI_COMM_WORLD);
		long moves = insert(in), all;
		MPI_Allreduce(&moves, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
