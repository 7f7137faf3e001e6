// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The functions that code compiled by -fsanitize=thread calls before it accesses memory, in place of
 * ThreadSanitizer's. A plain store is executed after the call: the next call finds what it has
 * written, and puts it into the thread's buffer.
 */
#include "access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

#define CALLER __builtin_return_address(0)

bool access_changed;

/* Bit t: thread t. */
static uint8_t readers[MODEL_ARENA / 8], writers[MODEL_ARENA / 8];

/* The store that the running thread executes next. */
static struct {
	uint8_t *at;
	size_t size;
	const void *pc;
	bool delayed;
	uint8_t under[MODEL_STORE_BYTES];
} next;

static bool in_arena(const void *at)
{
	return (const uint8_t *)at >= arena && (const uint8_t *)at < arena + MODEL_ARENA;
}

static bool on_own_stack(const void *at)
{
	const uint8_t *stack = model.self->stack;

	return (const uint8_t *)at >= stack && (const uint8_t *)at < stack + MODEL_STACK;
}

/* Notes an access. Returns true when another thread may notice it, or has written there. */
static bool note(const void *at, size_t size, bool write)
{
	uint8_t self = 1 << (model.self - model.threads);
	bool shared = false;

	for (size_t i = ((uint8_t *)at - arena) / 8; i <= ((uint8_t *)at + size - 1 - arena) / 8;
	     i++) {
		uint8_t *mask = write ? &writers[i] : &readers[i];

		if (state_ignores(i))
			continue;
		if (!(*mask & self)) {
			*mask |= self;
			/* Another thread has accessed it, and did not know of this one. */
			access_changed |=
				((write ? readers[i] | writers[i] : writers[i]) & ~self) != 0;
		}
		shared |= ((write ? readers[i] | writers[i] : writers[i]) & ~self) != 0;
	}
	return shared;
}

void access_finish(void)
{
	struct thread *thread = model.self;
	struct store *store;

	if (!next.size)
		return;
	if (next.delayed) {
		store = &thread->stores[thread->n_stores++];
		memset(store, 0, sizeof(*store));
		store->at = next.at;
		store->size = next.size;
		store->pc = next.pc;
		memcpy(store->bytes, next.at, next.size);
		memcpy(store->under, next.under, next.size);
	}
	next.size = 0;
}

/*
 * Before a copy of a structure the compiler calls for the store, then for the load: the store has not
 * been executed yet if nothing has changed. If it has, and has changed nothing, no one can tell.
 */
static bool begins_copy(void)
{
	return next.size > sizeof(uint64_t) && memcmp(next.at, next.under, next.size) == 0;
}

static bool has_own_store(const uint8_t *at, size_t size)
{
	const struct thread *thread = model.self;

	for (unsigned int i = 0; i < thread->n_stores; i++)
		if (at >= thread->stores[i].at &&
		    at + size <= thread->stores[i].at + thread->stores[i].size)
			return true;
	return false;
}

static void before_load(const void *at, size_t size, const void *pc)
{
	if (!model.running)
		return;
	if (!begins_copy())
		access_finish();
	if (!in_arena(at))
		return;
	if (note(at, size, false) && !has_own_store(at, size) &&
	    !(model.self->whole && state_whole(at) == model.self->whole)) {
		if (next.size) {
			fprintf(stderr, "model: %p copies from one shared structure to another\n",
				pc);
			abort();
		}
		thread_pause(LOAD, at, size, pc);
	}
}

static void before_store(void *at, size_t size, const void *pc)
{
	uint8_t *part = at;

	if (!model.running)
		return;
	access_finish();
	if (!in_arena(at)) {
		if (on_own_stack(at))
			return;
		/* On the stack of another thread, whose frames are there: visible at once. */
		for (unsigned int i = 0; i < model.n_threads; i++)
			if (part >= model.threads[i].stack &&
			    part < model.threads[i].stack + MODEL_STACK)
				return;
		fprintf(stderr, "model: %p writes to %p: expected memory of model_alloc()\n", pc,
			at);
		abort();
	}
	state_touch(at, size);
	next.delayed = note(at, size, true);
	if (!next.delayed)
		return;
	if (size > MODEL_STORE_BYTES) {
		fprintf(stderr, "model: %p stores %zu bytes: expected %d at most\n", pc, size,
			MODEL_STORE_BYTES);
		abort();
	}
	if (model.self->n_stores == MODEL_STORES)
		thread_pause(STORE, at, size, pc);
	next.at = at;
	next.size = size;
	next.pc = pc;
	next.delayed = true;
	memcpy(next.under, at, size);
}

/* An instruction with a lock prefix. */
static void before_locked(void *at, size_t size, const void *pc)
{
	bool shared;

	if (!model.running)
		return;
	access_finish();
	shared = in_arena(at);
	if (shared) {
		state_touch(at, size);
		shared = note(at, size, false);
		shared |= note(at, size, true);
	}
	if (shared || model.self->n_stores)
		thread_pause(LOCKED, at, size, pc);
}

static void barrier(const void *pc)
{
	if (!model.running)
		return;
	access_finish();
	if (model.self->n_stores)
		thread_pause(LOCKED, NULL, 0, pc);
}

/* ---- what the threads call ---- */

unsigned int model_self(void)
{
	return model.self - model.threads;
}

void model_take(uint32_t *word, uint32_t mask, uint32_t value, uint32_t keep, uint32_t add)
{
	struct thread *thread = model.self;
	bool shared;

	if (!model.running) {
		*word = (*word & keep) + add;
		return;
	}
	access_finish();
	state_touch(word, sizeof(*word));
	shared = note(word, sizeof(*word), false);
	shared |= note(word, sizeof(*word), true);
	if (!shared && !thread->n_stores && (*word & mask) == value) {
		*word = (*word & keep) + add;
		return;
	}
	thread->mask = mask;
	thread->value = value;
	thread->keep = keep;
	thread->add = add;
	thread_pause(TAKE, word, sizeof(*word), CALLER);
}

void model_post(uint32_t *word, uint32_t value)
{
	if (!model.running) {
		*word = value;
		return;
	}
	access_finish();
	state_touch(word, sizeof(*word));
	note(word, sizeof(*word), true);
	model.self->value = value;
	thread_pause(POST, word, sizeof(*word), CALLER);
}

void model_barrier(void)
{
	barrier(CALLER);
}

void model_yield(void)
{
	if (!model.running)
		return;
	access_finish();
	thread_pause(YIELD, NULL, 0, CALLER);
}

/* PAUSE is no step. But a look at memory not known to be shared must not go on for ever. */
void model_relax(void)
{
	if (!model.running)
		return;
	access_finish();
	if (model.self->looked)
		thread_pause(YIELD, NULL, 0, CALLER);
	model.self->looked = true;
}

void *model_memset(void *to, int byte, size_t size)
{
	before_store(to, size, CALLER);
	return memset(to, byte, size);
}

void *model_memcpy(void *to, const void *from, size_t size)
{
	before_load(from, size, CALLER);
	before_store(to, size, CALLER);
	return memcpy(to, from, size);
}

uint64_t model_time_ns(void)
{
	return 1;
}

uint64_t model_cycles(void)
{
	return 0;
}

bool model_more(unsigned int i, unsigned int calls)
{
	return i < calls;
}

unsigned int model_choose(unsigned int n)
{
	if (!model.running)
		return 0;
	access_finish();
	model.self->value = n;
	thread_pause(CHOOSE, NULL, 0, CALLER);
	return model.self->value;
}

/* ---- what the compiler calls ---- */

#define PLAIN(size)                                                                                \
	void __tsan_read##size(void *at);                                                          \
	void __tsan_read##size(void *at)                                                           \
	{                                                                                          \
		before_load(at, size, CALLER);                                                     \
	}                                                                                          \
	void __tsan_write##size(void *at);                                                         \
	void __tsan_write##size(void *at)                                                          \
	{                                                                                          \
		before_store(at, size, CALLER);                                                    \
	}                                                                                          \
	void __tsan_unaligned_read##size(void *at);                                                \
	void __tsan_unaligned_read##size(void *at)                                                 \
	{                                                                                          \
		before_load(at, size, CALLER);                                                     \
	}                                                                                          \
	void __tsan_unaligned_write##size(void *at);                                               \
	void __tsan_unaligned_write##size(void *at)                                                \
	{                                                                                          \
		before_store(at, size, CALLER);                                                    \
	}
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_read_range(void *at, size_t size);
void __tsan_read_range(void *at, size_t size)
{
	before_load(at, size, CALLER);
}

void __tsan_write_range(void *at, size_t size);
void __tsan_write_range(void *at, size_t size)
{
	before_store(at, size, CALLER);
}

static void store_now(void *at, size_t size, uint64_t value, const void *pc)
{
	before_store(at, size, pc);
	memcpy(at, &value, size);
	if (model.running)
		access_finish();
}

#define ATOMIC_RMW(bits, name, expression)                                                         \
	uint##bits##_t __tsan_atomic##bits##_##name(uint##bits##_t *at, uint##bits##_t value,      \
						    int order);                                    \
	uint##bits##_t __tsan_atomic##bits##_##name(uint##bits##_t *at, uint##bits##_t value,      \
						    int order)                                     \
	{                                                                                          \
		uint##bits##_t old;                                                                \
		before_locked(at, bits / 8, CALLER);                                               \
		old = *at;                                                                         \
		*at = expression;                                                                  \
		return old;                                                                        \
	}
#define ATOMIC(bits)                                                                               \
	uint##bits##_t __tsan_atomic##bits##_load(const uint##bits##_t *at, int order);            \
	uint##bits##_t __tsan_atomic##bits##_load(const uint##bits##_t *at, int order)             \
	{                                                                                          \
		before_load(at, bits / 8, CALLER);                                                 \
		return *at;                                                                        \
	}                                                                                          \
	void __tsan_atomic##bits##_store(uint##bits##_t *at, uint##bits##_t value, int order);     \
	void __tsan_atomic##bits##_store(uint##bits##_t *at, uint##bits##_t value, int order)      \
	{                                                                                          \
		if (order != __ATOMIC_SEQ_CST) {                                                   \
			store_now(at, bits / 8, value, CALLER);                                    \
			return;                                                                    \
		}                                                                                  \
		before_locked(at, bits / 8, CALLER);                                               \
		*at = value;                                                                       \
	}                                                                                          \
	ATOMIC_RMW(bits, exchange, value)                                                          \
	ATOMIC_RMW(bits, fetch_add, old + value)                                                   \
	ATOMIC_RMW(bits, fetch_sub, old - value)                                                   \
	ATOMIC_RMW(bits, fetch_or, old | value)                                                    \
	ATOMIC_RMW(bits, fetch_and, old &value)                                                    \
	int __tsan_atomic##bits##_compare_exchange_strong(uint##bits##_t *at, uint##bits##_t *old, \
							  uint##bits##_t value, int order,         \
							  int fail);                               \
	int __tsan_atomic##bits##_compare_exchange_strong(uint##bits##_t *at, uint##bits##_t *old, \
							  uint##bits##_t value, int order,         \
							  int fail)                                \
	{                                                                                          \
		before_locked(at, bits / 8, CALLER);                                               \
		if (*at == *old) {                                                                 \
			*at = value;                                                               \
			return 1;                                                                  \
		}                                                                                  \
		*old = *at;                                                                        \
		return 0;                                                                          \
	}
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	if (order == __ATOMIC_SEQ_CST)
		barrier(CALLER);
}

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
}
