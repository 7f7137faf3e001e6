! SPDX-License-Identifier: GPL-2.0-or-later
! A loop of OpenMP in Fortran.
program sums
  implicit none
  integer(8) :: total, i
  total = 0
  !$omp parallel do reduction(+:total)
  do i = 1, 200000
    total = total + i * i
  end do
  print '(i0)', total
end program
