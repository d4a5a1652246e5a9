! All ranks do the same; one of them tells the others what to do.
program even
  use mpi
  implicit none
#ifndef TIMES
#define TIMES 1 /* as much work */
#endif
  integer :: rank, ierr, step, i, n
  double precision :: x
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  x = 0
  do step = 1, 10
    n = 30000 * TIMES
    call MPI_Bcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    do i = 1, n
      x = x + sqrt(dble(i))
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  if (x < 0) print *, x
  call MPI_Finalize(ierr)
end program
