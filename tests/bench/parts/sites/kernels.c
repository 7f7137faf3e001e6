/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernels ep|cg|lu|bt: sends messages as the kernels of that name of the NAS benchmarks do, with sizes of
 * their class A. Computing is sleeping, so that ranks need no CPU each.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 65536

static int rank, ranks, width, height, column, row;
static char sent[4][MOST], received[4][MOST];

static void compute(int microseconds)
{
	usleep(microseconds);
}

static void sum(int numbers)
{
	double in[16] = { rank }, out[16];

	MPI_Allreduce(in, out, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Independent random numbers, and their sums in the end. */
static void ep(void)
{
	compute(1000000);
	sum(1);
	sum(2);
	sum(10);
}

/* A matrix by a vector: each rank exchanges a part of the vector, and all need sums. */
static void cg(void)
{
	int partner = (rank + ranks / 2) % ranks;
	MPI_Request request;

	for (int i = 0; i < 40; i++) {
		compute(20000);
		MPI_Irecv(received, 14000, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &request);
		MPI_Send(sent, 14000, MPI_BYTE, partner, 1, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		sum(1);
		sum(1);
	}
}

/* The rank of the grid beside this one; none beyond its border. */
static int beside(int columns, int rows)
{
	int x = column + columns, y = row + rows;

	return x < 0 || y < 0 || x >= width || y >= height ? MPI_PROC_NULL : y * width + x;
}

/* Planes of a grid, from one corner to the other: a rank begins with a plane that its neighbours have done. */
static void sweep(int way)
{
	for (int plane = 0; plane < 20; plane++) {
		MPI_Recv(received, 1280, MPI_BYTE, beside(-way, 0), 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		MPI_Recv(received, 1280, MPI_BYTE, beside(0, -way), 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		compute(1000);
		MPI_Send(sent, 1280, MPI_BYTE, beside(way, 0), 1, MPI_COMM_WORLD);
		MPI_Send(sent, 1280, MPI_BYTE, beside(0, way), 1, MPI_COMM_WORLD);
	}
}

static void lu(void)
{
	for (int i = 0; i < 15; i++) {
		sweep(1);
		sweep(-1);
		sum(5);
	}
}

/* Faces to the four neighbours on a torus, then a line of blocks in each of three directions. */
static void bt(void)
{
	int peers[4] = { row * width + (column + 1) % width,
			 row * width + (column + width - 1) % width,
			 (row + 1) % height * width + column,
			 (row + height - 1) % height * width + column };
	MPI_Request requests[8];

	for (int i = 0; i < 20; i++) {
		for (int direction = 0; direction < 4; direction++) {
			compute(12000);
			for (int j = 0; j < 4; j++) {
				MPI_Irecv(received[j], 10000, MPI_BYTE, peers[j ^ 1], j,
					  MPI_COMM_WORLD, &requests[j]);
				MPI_Isend(sent[j], 10000, MPI_BYTE, peers[j], j, MPI_COMM_WORLD,
					  &requests[4 + j]);
			}
			MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
		}
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kernels[] = { { "ep", ep }, { "cg", cg }, { "lu", lu }, { "bt", bt } };
	size_t i = 0;

	while (i < 4 && strcmp(kernels[i].name, argc > 1 ? argv[1] : "") != 0)
		i++;
	if (i == 4) {
		fputs("Usage: kernels ep|cg|lu|bt\n", stderr);
		return 2;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (height = 1; (height + 1) * (height + 1) <= ranks; height++)
		;
	while (ranks % height)
		height--;
	width = ranks / height;
	column = rank % width;
	row = rank / width;
	kernels[i].run();
	MPI_Finalize();
	return 0;
}
