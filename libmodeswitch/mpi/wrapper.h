/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wrappers around MPI's functions. Arguments are integers and pointers only, so a wrapper takes
 * each as 64 bits and hands it on as it is: one wrapper fits every MPI library. Each function is
 * wrapped under both its names: the MPI library's own Fortran layer and other tools call PMPI_x.
 */
#ifndef MPI_WRAPPER_H
#define MPI_WRAPPER_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/page.h"

/* A function of MPI. Numbers of arguments count from 1; 0: it has no such argument. */
struct call {
	const char *name; /* without "MPI_" */
	const char *names[2];
	void *next[2];
	struct page_call *counter; /* NULL: not called yet */
	/* Does what must happen while the program's handles are valid; may be NULL. */
	void (*before)(const struct call *call, const uint64_t *a);
	/* Makes the call in another way, or returns -1 for the library's; may be NULL. */
	int (*instead)(const uint64_t *a);
	/* Counts a call that succeeded; may be NULL. */
	void (*after)(struct call *call, const uint64_t *a, uint64_t ticks);
	uint8_t count, type, peer, communicator, window, buffer, request, partitions, source,
		status;
	bool large;	 /* counts have 64 bits */
	bool blocking;	 /* the function returns when the message is on its way */
	bool persistent; /* what it makes is counted when it is started */
	bool neighbours; /* arrays have an entry for each neighbour */
	bool begins;	 /* the profile */
	bool fetches;	 /* bytes come from the peer */
	bool meets;	 /* no rank returns before all have called it */
};

/* True while this thread is in a call: calls that MPI makes inside of it are not counted. */
extern __thread bool call_inside __attribute__((tls_model("initial-exec")));

/* From now on calls with an 'instead', which knows of sites, are made by that. */
void call_with_sites(void);

/* True when the call is to be counted; then call_leave() must follow. */
bool call_enter(struct call *call, const uint64_t *a);
void call_leave(struct call *call, const uint64_t *a, uint64_t ticks, int result);
/* Finds call->next; ends the process with a message when the MPI library has no such function. */
void call_find(struct call *call, int name);

static inline uint64_t call_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

#define WRAPPER(symbol, call, name, n)                                                             \
	int symbol(PARAMETERS_##n);                                                                \
	int symbol(PARAMETERS_##n)                                                                 \
	{                                                                                          \
		const uint64_t a[] = { 0, ARGUMENTS_##n };                                         \
		uint64_t start;                                                                    \
		bool counted;                                                                      \
		int result = -1;                                                                   \
                                                                                                   \
		if (__builtin_expect(!call.next[name], 0))                                         \
			call_find(&call, name);                                                    \
		counted = !call_inside && call_enter(&call, a);                                    \
		start = call_ticks();                                                              \
		if (__builtin_expect(counted && call.instead, 0))                                  \
			result = call.instead(a);                                                  \
		if (__builtin_expect(result == -1, 1))                                             \
			result = ((int (*)(TYPES_##n))call.next[name])(ARGUMENTS_##n);             \
		if (counted)                                                                       \
			call_leave(&call, a, call_ticks() - start, result);                        \
		return result;                                                                     \
	}

/* CALL(Send, 6, .after = ..., ...) wraps MPI_Send and PMPI_Send, which have 6 arguments. */
#define CALL(function, n, ...) CALL_(function, n, __VA_ARGS__)
#define CALL_(function, n, ...)                                                                    \
	static struct call call_##function = { .name = #function,                                  \
					       .names = { "MPI_" #function, "PMPI_" #function },   \
					       __VA_ARGS__ };                                      \
	WRAPPER(MPI_##function, call_##function, 0, n)                                             \
	WRAPPER(PMPI_##function, call_##function, 1, n)                                            \
	struct call

/* CALL_AND_LARGE(Send, ...) wraps MPI_Send_c, too, whose counts have 64 bits. */
#define CALL_AND_LARGE(function, n, ...)                                                           \
	CALL(function, n, __VA_ARGS__);                                                            \
	CALL(function##_c, n, .large = true, __VA_ARGS__)

/* n + 1 and n + 2 */
#define AFTER(n) AFTER_##n
#define AFTER_AFTER(n) AFTER_AFTER_##n

#define AFTER_1 2
#define AFTER_2 3
#define AFTER_3 4
#define AFTER_4 5
#define AFTER_5 6
#define AFTER_6 7
#define AFTER_7 8
#define AFTER_8 9
#define AFTER_9 10
#define AFTER_AFTER_1 3
#define AFTER_AFTER_2 4
#define AFTER_AFTER_3 5
#define AFTER_AFTER_4 6
#define AFTER_AFTER_5 7
#define AFTER_AFTER_6 8
#define AFTER_AFTER_7 9
#define AFTER_AFTER_8 10
#define AFTER_AFTER_9 11

#define PARAMETERS_0 void
#define ARGUMENTS_0
#define TYPES_0 void
#define PARAMETERS_1 uint64_t a1
#define ARGUMENTS_1 a1
#define TYPES_1 uint64_t
#define PARAMETERS_2 PARAMETERS_1, uint64_t a2
#define ARGUMENTS_2 ARGUMENTS_1, a2
#define TYPES_2 TYPES_1, uint64_t
#define PARAMETERS_3 PARAMETERS_2, uint64_t a3
#define ARGUMENTS_3 ARGUMENTS_2, a3
#define TYPES_3 TYPES_2, uint64_t
#define PARAMETERS_4 PARAMETERS_3, uint64_t a4
#define ARGUMENTS_4 ARGUMENTS_3, a4
#define TYPES_4 TYPES_3, uint64_t
#define PARAMETERS_5 PARAMETERS_4, uint64_t a5
#define ARGUMENTS_5 ARGUMENTS_4, a5
#define TYPES_5 TYPES_4, uint64_t
#define PARAMETERS_6 PARAMETERS_5, uint64_t a6
#define ARGUMENTS_6 ARGUMENTS_5, a6
#define TYPES_6 TYPES_5, uint64_t
#define PARAMETERS_7 PARAMETERS_6, uint64_t a7
#define ARGUMENTS_7 ARGUMENTS_6, a7
#define TYPES_7 TYPES_6, uint64_t
#define PARAMETERS_8 PARAMETERS_7, uint64_t a8
#define ARGUMENTS_8 ARGUMENTS_7, a8
#define TYPES_8 TYPES_7, uint64_t
#define PARAMETERS_9 PARAMETERS_8, uint64_t a9
#define ARGUMENTS_9 ARGUMENTS_8, a9
#define TYPES_9 TYPES_8, uint64_t
#define PARAMETERS_10 PARAMETERS_9, uint64_t a10
#define ARGUMENTS_10 ARGUMENTS_9, a10
#define TYPES_10 TYPES_9, uint64_t
#define PARAMETERS_11 PARAMETERS_10, uint64_t a11
#define ARGUMENTS_11 ARGUMENTS_10, a11
#define TYPES_11 TYPES_10, uint64_t
#define PARAMETERS_12 PARAMETERS_11, uint64_t a12
#define ARGUMENTS_12 ARGUMENTS_11, a12
#define TYPES_12 TYPES_11, uint64_t
#define PARAMETERS_13 PARAMETERS_12, uint64_t a13
#define ARGUMENTS_13 ARGUMENTS_12, a13
#define TYPES_13 TYPES_12, uint64_t

#endif
