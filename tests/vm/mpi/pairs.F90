! SPDX-License-Identifier: GPL-2.0-or-later
! pairs: two ranks send each other 14 messages of 8 bytes, in Fortran: with mpif.h, or with the module mpi_f08
! when WITH_MODULE is defined.
program pairs
#ifdef WITH_MODULE
  use mpi_f08
#endif
  implicit none
#ifndef WITH_MODULE
  include 'mpif.h'
#endif
  integer :: rank, i, total, error
  double precision :: out, in

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  do i = 1, 14
    out = 100 * rank + i
    if (rank == 0) then
      call MPI_Send(out, 1, MPI_DOUBLE_PRECISION, 1, 5, MPI_COMM_WORLD, error)
      call MPI_Recv(in, 1, MPI_DOUBLE_PRECISION, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    else
      call MPI_Recv(in, 1, MPI_DOUBLE_PRECISION, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call MPI_Send(out, 1, MPI_DOUBLE_PRECISION, 0, 5, MPI_COMM_WORLD, error)
    end if
    if (in /= 100 * (1 - rank) + i) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end do
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (total /= 1) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  if (rank == 0) print '(a)', 'done'
  call MPI_Finalize(error)
end program pairs
