! The same in Fortran: a critical section is the last thing in the loop's body.
module work
  implicit none
  integer :: last = 0
contains
  subroutine item(s)
    integer, intent(inout) :: s
    integer :: i
    do i = 1, 300
      s = ieor(ishft(s, 1), i)
    end do
  end subroutine item

  subroutine loop(n, size)
    integer, intent(in) :: n, size
    integer :: i, s
    s = 0
    !$omp parallel do schedule(dynamic, size) firstprivate(s) ! LOOP
    do i = 1, n ! LOOP
      call item(s) ! LOOP
      if (mod(i, 64) == 0) then
        !$omp critical (stat)
        last = last + s
        !$omp end critical (stat)
      end if
    end do
  end subroutine loop

  subroutine apart(n, size)
    integer, intent(in) :: n, size
    integer :: i, s
    s = 0
    !$omp parallel firstprivate(s) ! APART
    !$omp do schedule(dynamic, size) ! APART
    do i = 1, n ! APART
      call item(s) ! APART
      if (s == 1) last = i
    end do
    !$omp end do nowait
    !$omp end parallel
  end subroutine apart
end module work

program chunks
  use work
  character(16) :: arg(4)
  integer :: k, n, size, rounds
  do k = 1, 4
    call get_command_argument(k, arg(k))
  end do
  read (arg(2), *) n
  read (arg(3), *) size
  read (arg(4), *) rounds
  do k = 1, rounds
    if (arg(1)(1:1) == 'l') then
      call loop(n * size, size)
    else
      call apart(n * size, size)
    end if
  end do
  print *, last
end program chunks
