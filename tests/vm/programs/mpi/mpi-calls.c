/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mpi-calls: two or more MPI ranks make calls of each kind that a profile counts, and of each that
 * has made a profile wrong: thousands of communicators, handles that are used again, arguments
 * without meaning. Each rank sends 8 bytes to the next one 900 times, and rank 0 prints "done".
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define N 100

static int rank, ranks, next, last;
static double out[N], in[N];

/* 3 × N messages of 8 bytes. */
static void messages(void)
{
	MPI_Request send, receive, both[2];
	MPI_Status status, statuses[2];

	MPI_Send_init(out, 1, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &send);
	MPI_Recv_init(in, 1, MPI_DOUBLE, last, 1, MPI_COMM_WORLD, &receive);
	for (int i = 0; i < N; i++) {
		both[0] = receive;
		both[1] = send;
		MPI_Startall(2, both);
		MPI_Waitall(2, both, statuses);
		MPI_Sendrecv(out, 1, MPI_DOUBLE, next, 2, in, 1, MPI_DOUBLE, last, 2,
			     MPI_COMM_WORLD, &status);
		MPI_Irecv(in, 1, MPI_DOUBLE, last, 3, MPI_COMM_WORLD, &both[0]);
		MPI_Isend(out, 1, MPI_DOUBLE, next, 3, MPI_COMM_WORLD, &both[1]);
		MPI_Waitall(2, both, statuses);
	}
	MPI_Request_free(&send);
	MPI_Request_free(&receive);
	MPI_Send(out, 1, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
}

/* 300 messages, each in a communicator of its own; half of them have the ranks in reverse. */
static void communicators(void)
{
	for (int i = 0; i < 300; i++) {
		MPI_Comm fresh;
		MPI_Status status;
		bool reverse = i % 2;

		if (reverse)
			MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &fresh);
		else
			MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
		MPI_Sendrecv(out, 1, MPI_DOUBLE, reverse ? ranks - 1 - next : next, 1, in, 1,
			     MPI_DOUBLE, MPI_ANY_SOURCE, 1, fresh, &status);
		MPI_Comm_free(&fresh);
	}
}

/* N puts of 8 bytes to the next rank; N gets of 16 from it. */
static void windows(void)
{
	double *base;
	MPI_Win window;

	MPI_Win_allocate(N * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
			 &window);
	MPI_Win_fence(0, window);
	for (int i = 0; i < N; i++)
		MPI_Put(out, 1, MPI_DOUBLE, next, i, 1, MPI_DOUBLE, window);
	MPI_Win_fence(0, window);
	for (int i = 0; i < N; i++)
		MPI_Get(in, 2, MPI_DOUBLE, next, 0, 2, MPI_DOUBLE, window);
	MPI_Win_fence(0, window);
	MPI_Win_free(&window);
}

static void collectives(void)
{
	int counts[ranks], places[ranks], dimensions[1] = { ranks }, periods[1] = { 1 };
	const int one[] = { 1, 1 }, at[] = { 0, 1 };
	MPI_Datatype types[ranks], column;
	double all[ranks], other[ranks];
	MPI_Comm ring, parity, across;
	MPI_Request request;
	MPI_Status status;

	for (int i = 0; i < ranks; i++) {
		counts[i] = 1;
		places[i] = i;
		types[i] = MPI_DOUBLE;
		all[i] = i;
	}
	/* Arguments that have no meaning on a rank may be MPI_DATATYPE_NULL. */
	if (rank == 0)
		MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_DOUBLE, 0,
			   MPI_COMM_WORLD);
	else
		MPI_Gather(all, 1, MPI_DOUBLE, NULL, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Scatter(all, 1, MPI_DOUBLE, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0,
			    MPI_COMM_WORLD);
	else
		MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
	MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_DOUBLE,
		       MPI_COMM_WORLD);
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
	MPI_Alltoallv(all, counts, places, MPI_DOUBLE, other, counts, places, MPI_DOUBLE,
		      MPI_COMM_WORLD);
	for (int i = 0; i < ranks; i++)
		places[i] *= sizeof(double);
	MPI_Alltoallw(all, counts, places, types, other, counts, places, types, MPI_COMM_WORLD);
	MPI_Reduce_scatter(all, other, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Iallreduce(MPI_IN_PLACE, all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, &status);
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	MPI_Wait(&request, &status);
	MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &column);
	MPI_Type_commit(&column);
	MPI_Bcast(out, 1, column, 0, MPI_COMM_WORLD);
	MPI_Type_free(&column);
	MPI_Cart_create(MPI_COMM_WORLD, 1, dimensions, periods, 0, &ring);
	MPI_Neighbor_alltoallv(out, one, at, MPI_DOUBLE, in, one, at, MPI_DOUBLE, ring);
	MPI_Comm_free(&ring);
	/* Between two groups the arguments of most ranks have no meaning. */
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &parity);
	MPI_Intercomm_create(parity, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &across);
	if (rank == 0)
		MPI_Bcast(out, 1, MPI_DOUBLE, MPI_ROOT, across);
	else if (rank % 2 == 0)
		MPI_Bcast(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, across);
	else
		MPI_Bcast(out, 1, MPI_DOUBLE, 0, across);
	MPI_Comm_free(&across);
	MPI_Comm_free(&parity);
}

static void *sender(void *context)
{
	int tag = 100 + (int)(long)context;

	for (int i = 0; i < N; i++) {
		double a = i, b;
		MPI_Status status;

		MPI_Sendrecv(&a, 1, MPI_DOUBLE, next, tag, &b, 1, MPI_DOUBLE, last, tag,
			     MPI_COMM_WORLD, &status);
	}
	return NULL;
}

/* 2 × N messages of two threads at once, if the library lets threads call it at once. */
static void threads(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, sender, (void *)1) != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	sender((void *)2);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	next = (rank + 1) % ranks;
	last = (rank + ranks - 1) % ranks;
	messages();
	communicators();
	windows();
	collectives();
	if (provided == MPI_THREAD_MULTIPLE) {
		threads();
	} else {
		sender((void *)1);
		sender((void *)2);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		puts("done");
	MPI_Finalize();
	return 0;
}
