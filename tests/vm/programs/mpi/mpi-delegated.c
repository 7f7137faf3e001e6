/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mpi-delegated: on the LWK, prints how many system calls are delegated while a rank sends itself
 * messages in several ways, makes communicators and has collective operations in them.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define OUTSTANDING 500
#define COMMUNICATORS 50

/* Looks at the LWK's own count. To read it delegates calls itself, the same number each time. */
static long delegated(void)
{
	FILE *file = fopen("/proc/self/lwk", "r");
	char line[128];
	long n = -1;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "delegated_calls %ld", &n);
	if (file)
		fclose(file);
	return n;
}

static void communicate(void)
{
	static double from[OUTSTANDING], to[OUTSTANDING], sum;
	MPI_Request requests[2 * OUTSTANDING];
	MPI_Status statuses[2 * OUTSTANDING];

	for (int i = 0; i < OUTSTANDING; i++) {
		MPI_Irecv(&to[i], 1, MPI_DOUBLE, 0, i, MPI_COMM_WORLD, &requests[2 * i]);
		MPI_Isend(&from[i], 1, MPI_DOUBLE, 0, i, MPI_COMM_WORLD, &requests[2 * i + 1]);
	}
	MPI_Waitall(2 * OUTSTANDING, requests, statuses);
	MPI_Sendrecv(from, OUTSTANDING, MPI_DOUBLE, 0, 0, to, OUTSTANDING, MPI_DOUBLE, 0, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < COMMUNICATORS; i++) {
		MPI_Comm made;

		MPI_Comm_dup(MPI_COMM_WORLD, &made);
		MPI_Allreduce(from, &sum, 1, MPI_DOUBLE, MPI_SUM, made);
		MPI_Barrier(made);
		MPI_Bcast(to, OUTSTANDING, MPI_DOUBLE, 0, made);
		MPI_Comm_free(&made);
	}
}

int main(int argc, char **argv)
{
	long first, reading, all;

	MPI_Init(&argc, &argv);
	first = delegated();
	reading = delegated() - first;
	first = delegated();
	communicate();
	all = delegated() - first;
	printf("delegated %ld\n", first < 0 || reading <= 0 ? -1 : all - reading);
	MPI_Finalize();
	return 0;
}
