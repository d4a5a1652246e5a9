/* A library with collective operations of its own, over shared memory: mpirun -n 4 ownlibrary FILE,
 * with --section-end xcclAllReduce. */
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static volatile double sink;
static volatile int *shared;
static int ranks;

__attribute__((noinline)) void xcclAllReduce(void)
{
	static int turn;
	turn++;
	__sync_fetch_and_add(shared, 1);
	while (*shared < turn * ranks)
		__builtin_ia32_pause();
}

static __attribute__((noinline)) void spend(long n)
{
	for (long i = 0; i < n * TIMES; i++)
		sink += i;
}

int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	int file = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (file < 0 || ftruncate(file, sizeof *shared))
		MPI_Abort(MPI_COMM_WORLD, 1);
	shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int step = 0; step < 8; step++) {
		spend(10000);
		if (rank == 1) /* CAUSE */
			spend(40000);
		xcclAllReduce();
	}
	MPI_Finalize();
	return 0;
}
