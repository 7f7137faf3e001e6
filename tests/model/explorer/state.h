/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the program: memory, threads with their stacks and the stores that they delay. */
#ifndef MODEL_STATE_H
#define MODEL_STATE_H

#include "explorer.h"

#define MODEL_THREADS 8
/*
 * Stores that a CPU can delay. Only those to shared memory count, so that no program here comes to
 * the end of a real buffer, either.
 */
#define MODEL_STORES 12
#define MODEL_STORE_BYTES 64
#define MODEL_CHOICES 8
/* Steps after one another. A way that is longer has no end. */
#define MODEL_DEPTH 20000
#define MODEL_STACK 16384
#define MODEL_LINE 64
#define MODEL_ARENA (4UL << 20)

/* A thread does this when it goes on. */
enum operation {
	NOTHING, /* it has not begun */
	LOAD,
	STORE,	/* its buffer was full */
	LOCKED, /* an instruction that makes its stores visible first: LOCK, MFENCE */
	TAKE,
	POST,
	CHOOSE,
	YIELD, /* it looks again and again: another thread goes on first */
	ENDED
};

struct store {
	uint8_t *at;
	uint32_t size;
	const void *pc;
	uint8_t bytes[MODEL_STORE_BYTES];
	uint8_t under[MODEL_STORE_BYTES]; /* what the bytes hide while the thread runs */
};

struct thread {
	uint64_t rsp;
	enum operation operation;
	void *at;
	uint32_t size;
	uint32_t mask, value, keep, add; /* of TAKE, POST and CHOOSE */
	const void *pc;
	uint32_t polls; /* how often it has yielded since another thread has done something */
	bool looked;	/* it has done nothing visible since it called model_relax() */
	uint32_t whole; /* the structure that it has just read a part of, or 0 */
	uint32_t n_stores;
	struct store stores[MODEL_STORES];
	/* Equal in every state. */
	const char *name;
	bool service;
	uint8_t *stack;
	void (*run)(void *argument);
	void *argument;
};

struct model {
	unsigned int n_threads;
	struct thread threads[MODEL_THREADS];
	unsigned int n_first, first[MODEL_THREADS];
	struct thread *last; /* the thread that went on last; NULL: none */
	unsigned int stops;  /* how often a thread stopped where it could go on */
	bool running;	     /* a thread runs, not the search */
	struct thread *self;
	const char *broken;
	uint64_t search_rsp;
};
extern struct model model;
extern uint8_t *const arena;

/* Makes the memory that a scenario begins with. In a bounded search the bound is part of the state. */
void state_prepare(const struct scenario *scenario, bool bounded);
/* Goes back to that. */
void state_begin(void);
/* Saves the state, and returns the bytes that it takes there; a multiple of 16. */
size_t state_save(void *to);
void state_restore(const void *from);
/* True when the state was not seen since state_begin(). */
bool state_is_new(void);
/* The highest place of the first frame of the search. */
void *state_frames(void);
/* True when model_ignore() named this word of the arena; 'word' is its number. */
bool state_ignores(size_t word);
/* The number of the model_whole() structure that the word belongs to; or 0. */
unsigned int state_whole(const void *at);
const char *state_name_of(const void *at);
/* The line has changed since the beginning. */
void state_touch(const void *at, size_t size);

/* Makes the thread's oldest store visible. */
void state_show_store(struct thread *thread);
/* The thread goes on until its next visible operation. */
void thread_run(struct thread *thread);
/* The thread that runs has come to a visible operation. Returns when it is the thread's turn. */
void thread_pause(enum operation operation, const void *at, uint32_t size, const void *pc);

#endif
