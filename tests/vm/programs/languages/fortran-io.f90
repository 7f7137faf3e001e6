! SPDX-License-Identifier: GPL-2.0-or-later
! Formatted and unformatted files, an internal one, and what is wrong with a missing one.
program fortran_io
  implicit none
  real(8), allocatable :: written(:), found(:)
  character(len=32) :: text
  integer :: i, status

  allocate(written(100000), found(100000))
  written = [(sqrt(real(i, 8)), i = 1, size(written))]

  open(unit=10, status='scratch', form='unformatted', access='stream')
  write(10) written
  rewind(10)
  read(10) found
  if (maxval(abs(found - written)) > 0) stop 1

  open(unit=11, status='scratch', form='formatted')
  write(11, '(3f10.4)') written(1:9)
  rewind(11)
  read(11, *) found(1:9)
  if (any(abs(found(1:9) - written(1:9)) > 1e-4)) stop 2

  write(text, '(i5, a)') 42, ' in a string'
  print '(a)', trim(text)
  open(unit=12, file='/nonexistent/file', status='old', iostat=status)
  if (status == 0) stop 3
  read(*, *) i
  print *, 'read', i
end program
