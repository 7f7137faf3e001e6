/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a few threads of one program in every order in which they can meet, on CPUs that keep stores
 * in order and may delay them (TSO, as x86 does).
 *
 * The threads are compiled by -fsanitize=thread, so the compiler calls this library before each
 * access to memory. A thread goes on alone until it comes to a visible operation: a load of what
 * another thread writes, an instruction with a lock prefix, a wait. A store to what another thread
 * accesses waits in the thread's buffer, and leaves it at any later time: that is a step of its
 * own. Depth first, from each state every step is tried; a state that has been seen, by a hash of
 * 64 bits of all that can change, is left at once.
 *
 * Which memory several threads access is found out on the way. When a word turns out to be shared
 * that was taken for one thread's own, all begins again with that knowledge.
 */
#ifndef MODEL_EXPLORER_H
#define MODEL_EXPLORER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Memory that the threads share, cleared. All that changes while they run is there or on their
 * stacks. Before the threads run only.
 */
void *model_alloc(size_t size, size_t align);
/* Gives memory a name, which reports of errors print. */
void model_name(const void *at, size_t size, const char *name);
/*
 * Memory that no thread decides by, as a count, or the readers of a lock that nobody takes for writing: two
 * states that differ there only are one.
 */
void model_ignore(const void *at, size_t size);
/* A structure that is read and written as a whole: stores to it that follow each other are one step. */
void model_whole(const void *at, size_t size);

/*
 * A thread of the program. 'service' threads may wait for ever; when nothing can go on, all others
 * must have ended.
 */
void model_thread(const char *name, void (*run)(void *argument), void *argument, bool service);
/* In the beginning that thread, one after the other, goes on until it waits. */
void model_first(unsigned int thread);

/* The calling thread's number, from 0 on in the order of model_thread(). */
unsigned int model_self(void);
/* Waits until *word & mask is 'value'; then *word becomes (*word & keep) + add, all at once. */
void model_take(uint32_t *word, uint32_t mask, uint32_t value, uint32_t keep, uint32_t add);
/* Writes at once what comes out of the CPU by another way than its stores: an interrupt. */
void model_post(uint32_t *word, uint32_t value);
/* MFENCE */
void model_barrier(void);
/* Another thread goes on first, if one can. */
void model_yield(void);
/* PAUSE */
void model_relax(void);
/* The library's, which know of the threads. */
void *model_memset(void *to, int byte, size_t size);
void *model_memcpy(void *to, const void *from, size_t size);
/* Returns each number below n, in one run or another. */
unsigned int model_choose(unsigned int n);

/* Time, which stands still while states are explored. */
uint64_t model_time_ns(void);
uint64_t model_cycles(void);
/* True when a thread shall make its call number i; it has 'calls' of them to explore. */
bool model_more(unsigned int i, unsigned int calls);

/* Ends the exploration with the steps that led here when something is not as it must be. */
#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			model_broken(#condition, __FILE__, __LINE__);                              \
	} while (0)
void model_broken(const char *condition, const char *file, int line);

/* Makes what the threads share and the threads themselves; a program defines it. */
struct scenario {
	const char *name;
	const char *text;
	/*
	 * The most times that a thread stops where it could go on, so that another one goes on; 0: as
	 * often as it may. When a store becomes visible is free in any case.
	 */
	unsigned int stops;
	void (*prepare)(void);
	/* When nothing can go on and all threads that must have ended; may be NULL. */
	void (*at_end)(void);
};
extern const struct scenario scenarios[];

#endif
