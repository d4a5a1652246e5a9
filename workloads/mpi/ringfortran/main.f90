! A ring passes blocks round; one rank packs a checkpoint in every step, and the delay goes round.
program ring
  use mpi
  implicit none
#ifndef TIMES
#define TIMES 1
#endif
  integer :: rank, n, step, left, right, ierr
  integer :: status(MPI_STATUS_SIZE)
  real(8) :: a(500), b(500)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  right = mod(rank + 1, n)
  left = mod(rank + n - 1, n)
  a = rank
  do step = 1, 20
     call advance(a)
     if (rank == 1) call pack_checkpoint(a) ! CAUSE
     call MPI_Sendrecv(a, 500, MPI_DOUBLE_PRECISION, right, 5, b, 500, MPI_DOUBLE_PRECISION, left, 5, &
          MPI_COMM_WORLD, status, ierr)
     a = b
  end do
  call MPI_Finalize(ierr)
contains
  subroutine advance(x)
    real(8), intent(inout) :: x(:)
    integer :: i, t
    do t = 1, 40 * TIMES
       do i = 1, size(x)
          x(i) = x(i) * 0.999d0 + t
       end do
    end do
  end subroutine
  subroutine pack_checkpoint(x)
    real(8), intent(inout) :: x(:)
    integer :: i, t
    do t = 1, 160 * TIMES ! CAUSE
       do i = 1, size(x) ! CAUSE
          x(i) = x(i) + 1d-9 * i * t
       end do
    end do
  end subroutine
end program
