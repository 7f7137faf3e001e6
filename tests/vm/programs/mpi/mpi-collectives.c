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

/* Two ints are an element of the last two types; those of STRIDED are in every second place. */
enum { STRIDED = 4, PAIR, TYPES };
static MPI_Datatype types[TYPES];

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
	case STRIDED:
		((int *)buffer)[4 * i] = value;
		((int *)buffer)[4 * i + 2] = value;
		break;
	case PAIR:
		((int *)buffer)[2 * i] = value;
		((int *)buffer)[2 * i + 1] = value;
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

#define BUFFER_BYTES ((MOST + 1) * sizeof(double))

static double *in, *out, *expected;

/* Nothing may be in 'out' but what is in 'expected', between its elements and behind them. */
static void compare(const char *what)
{
	for (size_t i = 0; i < BUFFER_BYTES; i++) {
		if (((char *)out)[i] != ((char *)expected)[i])
			wrong(what, i);
	}
}

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
	memset(out, GUARD, BUFFER_BYTES);
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
		MPI_Bcast(values, n, types[PAIR], root, comm);
	else
		MPI_Bcast(values, n, types[STRIDED], root, comm);
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

	/* MPICH 4.0 itself reads MPI_IN_PLACE as a buffer at other roots, such as 1 and 2 of 3 ranks. */
	in_place = in_place && root == 0;
	fill(in, type, n, rank);
	memset(out, GUARD, BUFFER_BYTES);
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
	memset(out, GUARD, BUFFER_BYTES);
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

/* ---- operations in which each rank has elements of its own ---- */

static int *counts, *places, *own_counts, *own_places;

/* Ranks differ in how they describe pairs of ints. */
static int type_to_send(int type, int rank)
{
	return type == STRIDED && rank % 2 ? PAIR : type;
}

/* The elements that a has for b; the same both ways when both are in one place. */
static int pair_count(int a, int b, int n, bool in_place)
{
	return n * ((in_place ? a + b + a * b : a * 5 + b * 3 + round_number) % 7) / 7;
}

/* With a gap after each rank's, the last rank's first. */
static void put_last_first(const int *numbers, int *at, int ranks)
{
	int place = 0;

	for (int i = ranks - 1; i >= 0; i--) {
		at[i] = place;
		place += numbers[i] + 1;
	}
}

static void put_evenly(int *numbers, int *at, int n, int ranks)
{
	for (int i = 0; i < ranks; i++) {
		numbers[i] = n;
		at[i] = i * n;
	}
}

enum gathering { GATHER, GATHERV, ALLGATHER, ALLGATHERV };

static void gather(enum gathering function, MPI_Comm comm, int rank, int ranks, int type, int n,
		   bool in_place)
{
	static const char *const names[] = { "gather", "gatherv", "allgather", "allgatherv" };
	bool receives = function >= ALLGATHER || rank == root, vector = function % 2;
	int send_type = type_to_send(type, rank), own;
	const void *from = in_place && receives ? MPI_IN_PLACE : in;
	MPI_Datatype sent = types[send_type], received = types[type];

	put_evenly(counts, places, n, ranks);
	for (int i = 0; vector && i < ranks; i++)
		counts[i] = pair_count(i, 0, n, false);
	if (vector)
		put_last_first(counts, places, ranks);
	own = counts[rank];
	memset(out, GUARD, BUFFER_BYTES);
	memset(expected, GUARD, BUFFER_BYTES);
	fill(in, send_type, own, rank);
	for (int i = 0; in_place && receives && i < own; i++)
		write_element(out, type, places[rank] + i, given(rank, i));
	for (int peer = 0; receives && peer < ranks; peer++) {
		for (int i = 0; i < counts[peer]; i++)
			write_element(expected, type, places[peer] + i, given(peer, i));
	}
	switch (function) {
	case GATHER:
		MPI_Gather(from, own, sent, out, n, received, root, comm);
		break;
	case GATHERV:
		MPI_Gatherv(from, own, sent, out, rank == root ? counts : NULL,
			    rank == root ? places : NULL, received, root, comm);
		break;
	case ALLGATHER:
		MPI_Allgather(from, own, sent, out, n, received, comm);
		break;
	default:
		MPI_Allgatherv(from, own, sent, out, counts, places, received, comm);
	}
	compare(names[function]);
}

static void exchange(bool vector, MPI_Comm comm, int rank, int ranks, int type, int n,
		     bool in_place)
{
	int send_type = type_to_send(type, rank);
	const void *from = in_place ? MPI_IN_PLACE : in;

	put_evenly(counts, places, n, ranks);
	put_evenly(own_counts, own_places, n, ranks);
	for (int i = 0; vector && i < ranks; i++) {
		counts[i] = pair_count(i, rank, n, in_place);
		own_counts[i] = pair_count(rank, i, n, in_place);
	}
	if (vector) {
		put_last_first(counts, places, ranks);
		put_last_first(own_counts, own_places, ranks);
	}
	memset(out, GUARD, BUFFER_BYTES);
	memset(expected, GUARD, BUFFER_BYTES);
	for (int peer = 0; peer < ranks; peer++) {
		for (int i = 0; i < own_counts[peer]; i++)
			write_element(in_place ? out : in, in_place ? type : send_type,
				      own_places[peer] + i, given(rank, i + peer));
		for (int i = 0; i < counts[peer]; i++)
			write_element(expected, type, places[peer] + i, given(peer, i + rank));
	}
	if (vector)
		MPI_Alltoallv(from, own_counts, own_places, types[send_type], out, counts, places,
			      types[type], comm);
	else
		MPI_Alltoall(from, n, types[send_type], out, n, types[type], comm);
	compare(vector ? "alltoallv" : "alltoall");
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
	int rank, ranks, type = random_below(4), operation = random_below(14);
	int n = random_below(3) ? random_below(MOST) : random_below(20), who = random_below(1000);
	bool in_place = random_below(2);
	/* Elements of each rank: an element of STRIDED has the size of two doubles. */
	int any_type = random_below(5), each;

	maximum = random_below(2);
	if (comm == MPI_COMM_NULL || !part)
		return;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &ranks);
	root = who % ranks;
	each = n < 20 ? n / 4 : n / (4 * ranks);
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
	case 6:
	case 7:
	case 8:
		gather(operation - 5, comm, rank, ranks, any_type, each, in_place);
		break;
	case 9:
	case 10:
		exchange(false, comm, rank, ranks, any_type, each, in_place);
		break;
	case 11:
		exchange(true, comm, rank, ranks, any_type, each, in_place);
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
	MPI_Type_contiguous(2, MPI_INT, &types[PAIR]);
	MPI_Type_commit(&types[PAIR]);
	MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
	MPI_Type_create_resized(vector, 0, 4 * sizeof(int), &types[STRIDED]);
	MPI_Type_commit(&types[STRIDED]);
	MPI_Type_free(&vector);
	in = malloc(BUFFER_BYTES);
	out = malloc(BUFFER_BYTES);
	expected = malloc(BUFFER_BYTES);
	counts = malloc(4 * world_ranks * sizeof(int));
	places = counts + world_ranks;
	own_counts = places + world_ranks;
	own_places = own_counts + world_ranks;
	if (world_ranks > 1)
		between_groups();
	for (round_number = 0; round_number < rounds; round_number++)
		one_round();
	MPI_Barrier(MPI_COMM_WORLD);
	if (world_rank == 0)
		puts("done");
	MPI_Type_free(&types[STRIDED]);
	MPI_Type_free(&types[PAIR]);
	free(in);
	free(out);
	free(expected);
	free(counts);
	MPI_Finalize();
	return 0;
}
