/* A ring of domains exchanges borders without a collective operation; one domain has more cells. */
#include <mpi.h>
#include <stdlib.h>

#ifndef TIMES
#define TIMES 1 /* as much work */
#endif

static volatile double sink;

struct domain {
	int cells;
	double *u;
};

static __attribute__((noinline)) void relax(struct domain *d)
{
	for (int sweep = 0; sweep < 5 * TIMES; sweep++)
		for (int i = 1; i <= d->cells; i++) /* CAUSE */
			d->u[i] = 0.5 * (d->u[i - 1] + d->u[i + 1]);
}

static void borders(struct domain *d, int left, int right)
{
	MPI_Request r[4];
	MPI_Irecv(&d->u[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &r[0]);
	MPI_Irecv(&d->u[d->cells + 1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &r[1]);
	MPI_Isend(&d->u[1], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &r[2]);
	MPI_Isend(&d->u[d->cells], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &r[3]);
	MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, n;
	struct domain d;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	d.cells = rank == 2 ? 4000 : 1500;
	d.u = calloc(d.cells + 2, sizeof *d.u);
	for (int step = 0; step < 30; step++) {
		relax(&d);
		borders(&d, (rank + n - 1) % n, (rank + 1) % n);
	}
	MPI_Finalize();
	return 0;
}
