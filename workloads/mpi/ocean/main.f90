! Only points of water cost work; the continents lie in the domains of two ranks.
program ocean
  use mpi_f08
  implicit none
#ifndef TIMES
#define TIMES 1
#endif
  integer, parameter :: points = 800
  integer :: rank, step, i
  logical :: water(points)
  real(8), volatile :: heat
  real(8) :: mine, total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  do i = 1, points
     water(i) = rank == 0 .or. rank == 3 .or. mod(i, 4) == 0
  end do
  heat = 0
  do step = 1, 12
     do i = 1, points
        if (water(i)) call column(i) ! CAUSE
     end do
     mine = heat
     call MPI_Reduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
     call MPI_Bcast(total, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
  end do
  call MPI_Finalize()
contains
  subroutine column(i)
    integer, intent(in) :: i
    integer :: layer
    do layer = 1, 30 * TIMES
       heat = heat + 1d0 / (i + layer)
    end do
  end subroutine
end program
