# SPDX-License-Identifier: GPL-2.0-or-later
"""Collectives of numpy arrays and of objects."""
import numpy
from mpi4py import MPI

ranks = MPI.COMM_WORLD
total = numpy.zeros(1000)
ranks.Allreduce(numpy.full(1000, ranks.rank + 1.0), total)
words = ranks.gather({"rank": ranks.rank}, root=0)
if ranks.rank == 0:
    print(ranks.size, total.sum(), words)
