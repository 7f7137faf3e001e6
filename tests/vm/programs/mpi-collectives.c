/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mpi-collectives [ROUNDS [SEED]]: makes collective operations at random, in communicators at
 * random, and compares each result with what every rank can work out alone. Sums are of small whole
 * numbers: their order does not matter, and they fit into a byte. Rank 0 prints "done".
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 6000 /* elements of a rank */
#define GUARD 77  /* what must not change */

static int world_rank, world_ranks, round_number;
static uint64_t state;

/* All ranks get the same random numbers. */
static unsigned random_below(unsigned n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % n;
}

static void wrong(const char *what, int at)
{
	printf("rank %d: round %d: %s: wrong at %d\n", world_rank, round_number, what, at);
	fflush(stdout);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The i-th element of a rank; small, so that sums fit each type. */
static int given(int rank, int i)
{
	return (rank * 7 + i * 3 + round_number) % 11;
}

/* ---- communicators ---- */

static MPI_Comm communicator(bool *part)
{
	MPI_Comm made;
	int kind = random_below(5), colour = random_below(world_ranks);

	*part = true;
	switch (kind) {
	case 0: /* the ranks in reverse */
		MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &made);
		return made;
	case 1: /* all but one */
		MPI_Comm_split(MPI_COMM_WORLD, world_rank == colour ? MPI_UNDEFINED : 0, 0, &made);
		*part = world_rank != colour;
		return made;
	case 2: /* two halves, each with operations of its own */
		MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &made);
		return made;
	case 3:
		MPI_Comm_dup(MPI_COMM_WORLD, &made);
		return made;
	default:
		return MPI_COMM_WORLD;
	}
}

/* ---- elements ---- */

static MPI_Datatype types[4], strided, pair_of_ints;

static double read_element(const void *buffer, int type, int i)
{
	switch (type) {
	case 0:
		return ((const int *)buffer)[i];
	case 1:
		return ((const double *)buffer)[i];
	case 2:
		return ((const long *)buffer)[i];
	default:
		return ((const unsigned char *)buffer)[i];
	}
}

static void write_element(void *buffer, int type, int i, int value)
{
	switch (type) {
	case 0:
		((int *)buffer)[i] = value;
		break;
	case 1:
		((double *)buffer)[i] = value;
		break;
	case 2:
		((long *)buffer)[i] = value;
		break;
	default:
		((unsigned char *)buffer)[i] = value;
	}
}

static void fill(void *buffer, int type, int n, int rank)
{
	for (int i = 0; i < n; i++)
		write_element(buffer, type, i, given(rank, i));
}

static void check(const char *what, const void *buffer, int type, int n, int ranks,
		  double (*expected)(int i, int ranks, int n))
{
	for (int i = 0; i < n; i++) {
		if (read_element(buffer, type, i) != expected(i, ranks, n))
			wrong(what, i);
	}
}

static double *in, *out;

/* ---- operations ---- */

static int root;

static double from_root(int i, int ranks, int n)
{
	(void)ranks;
	(void)n;
	return given(root, i);
}

static void broadcast(MPI_Comm comm, int rank, int ranks, int type, int n)
{
	memset(out, GUARD, (MOST + 1) * sizeof(double));
	if (rank == root)
		fill(out, type, n, rank);
	MPI_Bcast(out, n, types[type], root, comm);
	check("bcast", out, type, n, ranks, from_root);
	if (((char *)out)[MOST * sizeof(double)] != GUARD)
		wrong("bcast writes beyond its end", n);
}

/* The root sends two ints as a pair; others get them in every second place. */
static void broadcast_strided(MPI_Comm comm, int rank, int n)
{
	int *values = (int *)out;

	for (int i = 0; i < 4 * n; i++)
		values[i] = rank == root ? given(root, i) : GUARD;
	if (rank == root)
		MPI_Bcast(values, n, pair_of_ints, root, comm);
	else
		MPI_Bcast(values, n, strided, root, comm);
	for (int i = 0; rank != root && i < 4 * n; i++) {
		if (values[i] != (i % 2 ? GUARD : given(root, i / 2)))
			wrong("bcast of a strided type", i);
	}
}

static bool maximum;

static double reduced(int i, int ranks, int n)
{
	double all = 0;

	(void)n;
	for (int rank = 0; rank < ranks; rank++) {
		int value = given(rank, i);

		all = maximum ? (value > all ? value : all) : all + value;
	}
	return all;
}

static void reduce(MPI_Comm comm, int rank, int ranks, int type, int n, bool in_place)
{
	MPI_Op operation = maximum ? MPI_MAX : MPI_SUM;

	fill(in, type, n, rank);
	memset(out, GUARD, (MOST + 1) * sizeof(double));
	if (in_place && rank == root)
		fill(out, type, n, rank);
	MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : in, rank == root ? out : NULL, n,
		   types[type], operation, root, comm);
	if (rank == root)
		check("reduce", out, type, n, ranks, reduced);
}

static void allreduce(MPI_Comm comm, int rank, int ranks, int type, int n, bool in_place)
{
	fill(in, type, n, rank);
	memset(out, GUARD, (MOST + 1) * sizeof(double));
	if (in_place)
		fill(out, type, n, rank);
	MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, n, types[type],
		      maximum ? MPI_MAX : MPI_SUM, comm);
	check("allreduce", out, type, n, ranks, reduced);
	for (int i = 0; !in_place && i < n; i++) {
		if (read_element(in, type, i) != given(rank, i))
			wrong("allreduce changes what it is given", i);
	}
}

/* Keeps the left one of two numbers: not commutative. */
static void left_one(void *a, void *b, int *n, MPI_Datatype *type)
{
	(void)type;
	memcpy(b, a, *n * sizeof(int));
}

static void special_reductions(MPI_Comm comm, int rank, int ranks)
{
	struct {
		double value;
		int place;
	} own = { given(rank, 1), rank }, least;
	int first = rank + 5, all = 0;
	MPI_Op left;

	MPI_Allreduce(&own, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
	for (int i = 0; i < ranks; i++) {
		if (given(i, 1) < least.value || (given(i, 1) == least.value && i < least.place))
			wrong("minloc", i);
	}
	MPI_Op_create(left_one, 0, &left);
	MPI_Allreduce(&first, &all, 1, MPI_INT, left, comm);
	if (all != 5)
		wrong("an operation that does not commute", all);
	MPI_Op_free(&left);
}

static double gathered(int i, int ranks, int n)
{
	return given(i / (n / ranks), i % (n / ranks));
}

static void allgather(MPI_Comm comm, int rank, int ranks, int type, int n, bool in_place)
{
	static const size_t sizes[] = { sizeof(int), sizeof(double), sizeof(long), 1 };

	n /= ranks;
	fill(in, type, n, rank);
	memset(out, GUARD, (MOST + 1) * sizeof(double));
	if (in_place)
		memcpy((char *)out + (size_t)rank * n * sizes[type], in, n * sizes[type]);
	MPI_Allgather(in_place ? MPI_IN_PLACE : in, n, types[type], out, n, types[type], comm);
	if (n)
		check("allgather", out, type, n * ranks, ranks, gathered);
	if (((char *)out)[MOST * sizeof(double)] != GUARD)
		wrong("allgather writes beyond its end", n);
}

static void between_groups(void)
{
	MPI_Comm half, across;
	int side = world_rank % 2, sum = 0, own = world_rank, expected = 0;

	MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !side, 9, &across);
	MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, across);
	for (int i = !side; i < world_ranks; i += 2)
		expected += i;
	if (sum != expected)
		wrong("allreduce between two groups", sum);
	MPI_Barrier(across);
	MPI_Comm_free(&across);
	MPI_Comm_free(&half);
}

static void one_round(void)
{
	bool part;
	MPI_Comm comm = communicator(&part);
	int rank, ranks, type = random_below(4), operation = random_below(8);
	int n = random_below(3) ? random_below(MOST) : random_below(20), who = random_below(1000);
	bool in_place = random_below(2);

	maximum = random_below(2);
	if (comm == MPI_COMM_NULL || !part)
		return;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &ranks);
	root = who % ranks;
	switch (operation) {
	case 0:
		MPI_Barrier(comm);
		break;
	case 1:
		broadcast(comm, rank, ranks, type, n);
		break;
	case 2:
		broadcast_strided(comm, rank, n / 4);
		break;
	case 3:
		reduce(comm, rank, ranks, type, n, in_place);
		break;
	case 4:
		special_reductions(comm, rank, ranks);
		break;
	case 5:
		allgather(comm, rank, ranks, type, n, in_place);
		break;
	default:
		allreduce(comm, rank, ranks, type, n, in_place);
	}
	if (comm != MPI_COMM_WORLD)
		MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 500;
	MPI_Datatype vector;

	state = argc > 2 ? atoi(argv[2]) : 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
	types[0] = MPI_INT;
	types[1] = MPI_DOUBLE;
	types[2] = MPI_LONG;
	types[3] = MPI_UNSIGNED_CHAR;
	MPI_Type_contiguous(2, MPI_INT, &pair_of_ints);
	MPI_Type_commit(&pair_of_ints);
	MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
	MPI_Type_create_resized(vector, 0, 4 * sizeof(int), &strided);
	MPI_Type_commit(&strided);
	MPI_Type_free(&vector);
	in = malloc((MOST + 1) * sizeof(double));
	out = malloc((MOST + 1) * sizeof(double));
	if (world_ranks > 1)
		between_groups();
	for (round_number = 0; round_number < rounds; round_number++)
		one_round();
	MPI_Barrier(MPI_COMM_WORLD);
	if (world_rank == 0)
		puts("done");
	MPI_Type_free(&strided);
	MPI_Type_free(&pair_of_ints);
	free(in);
	free(out);
	MPI_Finalize();
	return 0;
}
