! mandelbrot: rows of the picture in equal blocks per thread (OpenMP, static). The
! rows in the middle cross the set, where the iteration runs to its end; outside it
! stops after a few rounds.
program mandelbrot
   use omp_lib
   implicit none
   integer, parameter :: maxit = 200
   integer :: threads, rows, cols, j
   character(len=16) :: arg
   integer, allocatable :: image(:, :)
   double precision :: colours(0:maxit), total
   threads = 16
   cols = 256
   if (command_argument_count() >= 1) then
      call get_command_argument(1, arg)
      read (arg, *) threads
   end if
   if (command_argument_count() >= 2) then
      call get_command_argument(2, arg)
      read (arg, *) cols
   end if
   rows = 256
   allocate (image(cols, rows))
   call palette(colours, 4000)
   call omp_set_dynamic(.false.)
   call omp_set_num_threads(threads)
   !$omp parallel do schedule(static) ! END
   do j = 1, rows ! END
      call row(j, rows, cols, image)
   end do
   !$omp end parallel do ! END
   total = 0
   do j = 1, rows
      total = total + sum(colours(image(:, j)))
   end do
   print '(a,f12.4)', 'light ', total
contains
   integer function escape(cx, cy)
      double precision, intent(in) :: cx, cy
      double precision :: x, y, t
      integer :: it
      x = 0
      y = 0
      it = 0
      do while (it < maxit .and. x*x + y*y < 4d0) ! CAUSE
         t = x*x - y*y + cx
         y = 2*x*y + cy
         x = t
         it = it + 1
      end do ! CAUSE
      escape = it
   end function escape

   subroutine row(j, rows, cols, image)
      integer, intent(in) :: j, rows, cols
      integer, intent(inout) :: image(cols, rows)
      integer :: i
      double precision :: cx, cy
      cy = -3d0 + 6d0*(j - 0.5d0)/rows
      do i = 1, cols
         cx = -2.2d0 + 3d0*(i - 0.5d0)/cols
         image(i, j) = escape(cx, cy)
      end do
   end subroutine row

   ! Palette of the picture, made serially before: a long chain of roots.
   subroutine palette(colours, rounds)
      integer, intent(in) :: rounds
      double precision, intent(out) :: colours(0:maxit)
      integer :: k, r
      do k = 0, maxit
         colours(k) = dble(k)/maxit
         do r = 1, rounds
            colours(k) = sqrt(colours(k)*0.9d0 + 0.05d0)
         end do
      end do
   end subroutine palette
end program mandelbrot
