! SPDX-License-Identifier: GPL-2.0-or-later
! The Himeno benchmark (R. Himeno, RIKEN), written from its published description: Jacobi sweeps of a
! 19-point stencil for Poisson's equation, in single precision. Reads a grid size (XS or S) and how
! many sweeps to do after a first one; the residual does not depend on the machine. The rate goes to standard error.
program himeno
  implicit none
  real(4), allocatable :: a(:,:,:,:), b(:,:,:,:), c(:,:,:,:), p(:,:,:), wrk1(:,:,:), wrk2(:,:,:), bnd(:,:,:)
  character(len=2) :: grid
  integer :: imax, jmax, kmax, sweeps, k, began, ended, rate
  real(4) :: first, gosa
  real(8) :: seconds

  read (*, *) grid, sweeps
  select case (grid)
  case ('XS')
    imax = 33; jmax = 33; kmax = 65
  case ('S')
    imax = 65; jmax = 65; kmax = 129
  case default
    stop 2
  end select

  allocate (a(imax, jmax, kmax, 4), b(imax, jmax, kmax, 3), c(imax, jmax, kmax, 3))
  allocate (p(imax, jmax, kmax), wrk1(imax, jmax, kmax), wrk2(imax, jmax, kmax), bnd(imax, jmax, kmax))
  a(:, :, :, 1:3) = 1
  a(:, :, :, 4) = 1.0/6.0
  b = 0
  c = 1
  bnd = 1
  wrk1 = 0
  wrk2 = 0
  do k = 1, kmax
    p(:, :, k) = real((k - 1)**2)/real((kmax - 1)**2)
  end do

  first = jacobi(1)
  call system_clock(began, rate)
  gosa = jacobi(sweeps)
  call system_clock(ended)
  seconds = real(max(ended - began, 1), 8)/rate
  write (0, '(a, f10.1, a)') 'himeno', 34d-6*sweeps*(imax - 2)*(jmax - 2)*(kmax - 2)/seconds, ' MFLOPS'
  print '(a, 3i5, a, i5, a, es14.6)', 'grid', imax, jmax, kmax, ', sweeps', sweeps, ', gosa', gosa
  ! Sweeps come nearer to the solution.
  if (.not. (gosa > 0 .and. gosa < first)) stop 1

contains

  real(4) function jacobi(times)
    integer, intent(in) :: times
    integer :: i, j, k, n
    real(4) :: s0, ss

    jacobi = 0
    do n = 1, times
      jacobi = 0
      do k = 2, kmax - 1
        do j = 2, jmax - 1
          do i = 2, imax - 1
            s0 = a(i, j, k, 1)*p(i + 1, j, k) + a(i, j, k, 2)*p(i, j + 1, k) + a(i, j, k, 3)*p(i, j, k + 1) &
              + b(i, j, k, 1)*(p(i + 1, j + 1, k) - p(i + 1, j - 1, k) - p(i - 1, j + 1, k) + p(i - 1, j - 1, k)) &
              + b(i, j, k, 2)*(p(i, j + 1, k + 1) - p(i, j - 1, k + 1) - p(i, j + 1, k - 1) + p(i, j - 1, k - 1)) &
              + b(i, j, k, 3)*(p(i + 1, j, k + 1) - p(i - 1, j, k + 1) - p(i + 1, j, k - 1) + p(i - 1, j, k - 1)) &
              + c(i, j, k, 1)*p(i - 1, j, k) + c(i, j, k, 2)*p(i, j - 1, k) + c(i, j, k, 3)*p(i, j, k - 1) &
              + wrk1(i, j, k)
            ss = (s0*a(i, j, k, 4) - p(i, j, k))*bnd(i, j, k)
            jacobi = jacobi + ss*ss
            wrk2(i, j, k) = p(i, j, k) + 0.8*ss
          end do
        end do
      end do
      p(2:imax - 1, 2:jmax - 1, 2:kmax - 1) = wrk2(2:imax - 1, 2:jmax - 1, 2:kmax - 1)
    end do
  end function

end program
