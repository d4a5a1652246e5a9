! A triangle dealt out in blocks of rows: the last rank has the longest ones.
program triangle
  use mpi
  implicit none
#ifndef TIMES
#define TIMES 1 /* as much work */
#endif
  integer :: rank, n, ierr, step, i, j, lo, hi
  integer, parameter :: rows = 200
  double precision :: x, mine, all
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  lo = rank * rows / n + 1
  hi = (rank + 1) * rows / n
  x = 0
  do step = 1, 10
    do i = lo, hi
      do j = 1, i * TIMES ! CAUSE
        x = x + sqrt(dble(i * j))
      end do
    end do
    mine = x
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr) ! END
  end do
  if (rank == 0) print *, all > 0
  call MPI_Finalize(ierr)
end program
