/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * communicators ONCE ALIVE: makes and frees ONCE communicators one after the other, then has ALIVE at the same
 * time, with a sum over the ranks of each. Rank 0 prints "done".
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks;

static void sum_over(MPI_Comm comm)
{
	int sum;

	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
	if (sum == ranks * (ranks - 1) / 2)
		return;
	printf("rank %d: expected a sum of %d, found %d\n", rank, ranks * (ranks - 1) / 2, sum);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
	int once = atoi(argv[1]), alive = atoi(argv[2]);
	MPI_Comm fresh, *all = calloc(alive, sizeof(*all));

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < once; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
		sum_over(fresh);
		MPI_Comm_free(&fresh);
	}
	for (int i = 0; i < alive; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
	for (int i = 0; i < alive; i++) {
		sum_over(all[i]);
		MPI_Comm_free(&all[i]);
	}
	free(all);
	if (rank == 0)
		puts("done");
	MPI_Finalize();
	return 0;
}
