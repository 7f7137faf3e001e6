/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collectives OPERATION:BYTES...: prints for each a line "OPERATION BYTES SECONDS", the time of the
 * slowest rank. Other load on the host only adds to the time, and adds most to short operations: of
 * these the program makes several rounds and prints the least time.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { SHORT = 10000 }; /* bytes */

static int rank, ranks, *counts, *places;

#ifdef MPICH
/*
 * MPICH looks for messages with this function, again and again. With fewer CPUs than ranks a rank
 * that finds none lets others go on, as Open MPI's do with mpi_yield_when_idle.
 */
int epoll_wait(int fd, struct epoll_event *events, int most, int ms)
{
	int found = epoll_pwait(fd, events, most, ms, NULL);

	if (!found)
		sched_yield();
	return found;
}
#endif

static void operate(const char *name, double *in, double *out, int n)
{
	if (!strcmp(name, "bcast"))
		MPI_Bcast(in, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	else if (!strcmp(name, "allreduce"))
		MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	else if (!strcmp(name, "reduce"))
		MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	else if (!strcmp(name, "allgather"))
		MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD);
	else if (!strcmp(name, "allgatherv"))
		MPI_Allgatherv(in, n, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
	else if (!strcmp(name, "gather"))
		MPI_Gather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	else if (!strcmp(name, "gatherv"))
		MPI_Gatherv(in, n, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	else if (!strcmp(name, "alltoall"))
		MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD);
	else if (!strcmp(name, "alltoallv"))
		MPI_Alltoallv(in, counts, places, MPI_DOUBLE, out, counts, places, MPI_DOUBLE,
			      MPI_COMM_WORLD);
	else if (!strcmp(name, "barrier"))
		MPI_Barrier(MPI_COMM_WORLD);
	else
		MPI_Abort(MPI_COMM_WORLD, 2);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/*
 * All ranks are on one host and have one clock: they begin at the same time, which a barrier over a
 * slow link cannot have them do, and the slowest one's end is the end.
 */
static double measure(const char *name, double *in, double *out, int n)
{
	double start, rest, seconds, slowest;

	MPI_Barrier(MPI_COMM_WORLD);
	start = now() + 0.5;
	MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	rest = start - now();
	if (rest > 0)
		usleep(rest * 1e6);
	operate(name, in, out, n);
	seconds = now() - start;
	MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return slowest;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	counts = calloc(ranks, sizeof(*counts));
	places = calloc(ranks, sizeof(*places));
	for (int i = 1; i < argc; i++) {
		char name[32] = "";
		int bytes = 0, n;
		double *in, *out, least = 0;

		if (sscanf(argv[i], "%31[a-z]:%d", name, &bytes) != 2)
			MPI_Abort(MPI_COMM_WORLD, 2);
		n = bytes / sizeof(double);
		for (int peer = 0; peer < ranks; peer++) {
			counts[peer] = n;
			places[peer] = peer * n;
		}
		in = calloc((size_t)n * ranks + 1, sizeof(double));
		out = calloc((size_t)n * ranks + 1, sizeof(double));
		/* The first round makes the connections. */
		measure(name, in, out, n);
		for (int round = 0; round < (bytes > SHORT ? 1 : 4); round++) {
			double seconds = measure(name, in, out, n);

			if (!round || seconds < least)
				least = seconds;
		}
		if (rank == 0) {
			printf("%s %d %.6f\n", name, bytes, least);
			fflush(stdout);
		}
		free(in);
		free(out);
	}
	free(counts);
	free(places);
#ifdef MPICH
	/* Over a slow link MPI_Finalize of MPICH 4.0 may wait forever for ranks that have gone. */
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	_exit(0);
#endif
	MPI_Finalize();
	return 0;
}
