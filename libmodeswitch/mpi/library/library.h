/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program's MPI library, MPICH or Open MPI, without its mpi.h: its functions are found by name,
 * and handles are numbers of 64 bits, of which MPICH uses 32.
 */
#ifndef MPI_LIBRARY_H
#define MPI_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

/* Functions and constants of the library; valid once library_find() was true. */
struct library {
	bool mpich;
	uint64_t world, in_place, byte, integer, ignore_status;
	uint64_t least;		  /* MPI_MIN */
	uint64_t no_communicator; /* MPI_COMM_NULL */
};
extern struct library library;

/* Finds out which library the program has; false when it has none that is known. */
bool library_find(void);

/*
 * Returns the function that a call goes to when ours has the name 'name', such as MPI_Send or
 * PMPI_Send; NULL when the library has none.
 */
void *library_next(const char *name);

/* A handle that is an argument, and one that an argument points to. */
static inline uint64_t library_handle(uint64_t argument)
{
	return library.mpich ? (uint32_t)argument : argument;
}
static inline uint64_t library_handle_at(uint64_t address)
{
	return library.mpich ? *(uint32_t *)address : *(uint64_t *)address;
}
/* The i-th handle of an array. */
static inline uint64_t library_handle_in(uint64_t array, int64_t i)
{
	return library.mpich ? ((uint32_t *)array)[i] : ((uint64_t *)array)[i];
}

/*
 * Calls the library's PMPI function of that number; more arguments than it has do no harm. Returns
 * its result, or -1 when there is none.
 */
enum library_function {
	TYPE_SIZE,
	TYPE_GET_EXTENT,
	TYPE_GET_TRUE_EXTENT,
	COMM_GROUP,
	COMM_REMOTE_GROUP,
	COMM_TEST_INTER,
	COMM_SIZE,
	COMM_RANK,
	COMM_DUP,
	COMM_FREE,
	COMM_SPLIT,
	COMM_GET_PARENT,
	GROUP_SIZE,
	GROUP_TRANSLATE_RANKS,
	GROUP_FREE,
	WIN_GET_GROUP,
	TOPO_TEST,
	CARTDIM_GET,
	DIST_GRAPH_NEIGHBORS_COUNT,
	SEND,
	RECV,
	ISEND,
	IRECV,
	WAITALL,
	BARRIER,
	BCAST,
	REDUCE,
	ALLREDUCE,
	REDUCE_SCATTER,
	REDUCE_LOCAL,
	OP_COMMUTATIVE,
	GATHER,
	GATHERV,
	ALLGATHER,
	ALLGATHERV,
	PACK,
	UNPACK,
	N_FUNCTIONS
};
int library_call(enum library_function function, const uint64_t *arguments);
#define LIBRARY_ARGUMENTS 12
#define LIBRARY_CALL(function, ...)                                                                \
	LIBRARY_CALL_(function, __VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define LIBRARY_CALL_(function, a, b, c, d, e, f, g, h, i, j, k, l, ...)                           \
	library_call(function,                                                                     \
		     (const uint64_t[LIBRARY_ARGUMENTS]){                                          \
			     (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d),           \
			     (uint64_t)(e), (uint64_t)(f), (uint64_t)(g), (uint64_t)(h),           \
			     (uint64_t)(i), (uint64_t)(j), (uint64_t)(k), (uint64_t)(l) })

/* Bytes of a datatype; -1 when it is unknown. */
int64_t library_type_size(uint64_t type);
/*
 * The bytes of so many elements of a type; -1 when one of them is unknown, or when they are more than
 * LIBRARY_BYTES_MAX, so that functions of MPI can number them.
 */
#define LIBRARY_BYTES_MAX (INT32_MAX / 2)
int library_bytes(uint64_t count, uint64_t type);
/* True for a type whose elements lie side by side in memory, without gaps. */
bool library_type_is_dense(uint64_t type);

#endif
