/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls [ROUNDS]: a rank sends 8 bytes to itself, again and again. Prints the nanoseconds of CPU
 * time that a call of MPI takes in the fastest of 20 parts; a round has three calls.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100000, rank;
	double least = 1e18;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int part = 0; part < 20; part++) {
		double start = cpu_ns(), ns;

		for (int i = 0; i < rounds; i++) {
			MPI_Request requests[2];
			MPI_Status statuses[2];
			double sent = i, received;

			MPI_Irecv(&received, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, &requests[0]);
			MPI_Isend(&sent, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, &requests[1]);
			MPI_Waitall(2, requests, statuses);
		}
		ns = (cpu_ns() - start) / rounds / 3;
		if (ns < least)
			least = ns;
	}
	printf("%.2f\n", least);
	MPI_Finalize();
	return 0;
}
