/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * large-counts: two ranks, each of which sends the other 5 messages of 8 bytes by the calls of MPI 4 with counts of
 * 64 bits, and one of 4 parts of 8 bytes by a partitioned send. Rank 0 prints "done".
 */
#include <mpi.h>
#include <stdio.h>

#define MESSAGES 5
#define PARTS 4

int main(int argc, char **argv)
{
	double out[PARTS] = { 1, 2, 3, 4 }, in[PARTS] = { 0 };
	MPI_Request send, receive;
	int rank, other;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	other = 1 - rank;
	for (int i = 0; i < MESSAGES; i++) {
		MPI_Irecv_c(in, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, &receive);
		MPI_Send_c(out, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
		MPI_Wait(&receive, MPI_STATUS_IGNORE);
	}
	MPI_Psend_init(out, PARTS, 1, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
	MPI_Precv_init(in, PARTS, 1, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
	MPI_Start(&receive);
	MPI_Start(&send);
	for (int i = 0; i < PARTS; i++)
		MPI_Pready(i, send);
	MPI_Wait(&send, MPI_STATUS_IGNORE);
	MPI_Wait(&receive, MPI_STATUS_IGNORE);
	MPI_Request_free(&send);
	MPI_Request_free(&receive);
	if (in[PARTS - 1] != PARTS)
		MPI_Abort(MPI_COMM_WORLD, 1);
	if (rank == 0)
		puts("done");
	MPI_Finalize();
	return 0;
}
