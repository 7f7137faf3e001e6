/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mpi-pairs [ROUNDS]: pairs of MPI ranks exchange messages, as the OSU micro-benchmarks do: half
 * the time of a round trip of 8 bytes, and, in a tenth of the rounds, what 1 MB messages make of a
 * second. All that is sent is looked at, and sums over all ranks too. Rank 0 prints how many ranks
 * there are; times, which differ from run to run, go to standard error.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 8
#define LARGE (1 << 20)

static unsigned char sent[LARGE], received[LARGE];

static void wrong(int rank, const char *what)
{
	printf("rank %d: wrong: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Returns the seconds for that many round trips; the first rank of each pair begins. */
static double exchange(int rank, int size, int rounds)
{
	int peer = rank ^ 1;
	double start;

	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (int i = 0; i < rounds; i++) {
		memset(sent, rank + i, size);
		if (rank & 1) {
			MPI_Recv(received, size, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
			MPI_Send(sent, size, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
		} else {
			MPI_Send(sent, size, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
			MPI_Recv(received, size, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		}
		if (received[0] != (unsigned char)(peer + i) ||
		    memcmp(received, received + 1, size - 1) != 0)
			wrong(rank, "a message");
	}
	return MPI_Wtime() - start;
}

static void check_sums(int rank, int ranks)
{
	int all[ranks], sum, expected = ranks * (ranks - 1) / 2;

	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
	if (sum != expected)
		wrong(rank, "a sum");
	for (int i = 0; i < ranks; i++)
		if (all[i] != i)
			wrong(rank, "a list");
}

int main(int argc, char **argv)
{
	int rank, ranks, rounds = argc > 1 ? atoi(argv[1]) : 200, large_rounds = rounds / 10 + 1;
	double small, large;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	check_sums(rank, ranks);
	if (ranks % 2 == 0) {
		exchange(rank, SMALL, large_rounds);
		small = exchange(rank, SMALL, rounds);
		large = exchange(rank, LARGE, large_rounds);
		if (rank == 0)
			fprintf(stderr, "%.1f us, %.0f MB/s\n", small / rounds / 2 * 1e6,
				2.0 * large_rounds * LARGE / large / 1e6);
	}
	if (rank == 0)
		printf("%d ranks\n", ranks);
	check_sums(rank, ranks);
	MPI_Finalize();
	return 0;
}
