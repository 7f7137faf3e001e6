// SPDX-License-Identifier: GPL-2.0-or-later
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "access.h"

#define LINES (MODEL_ARENA / MODEL_LINE)
/* Address space for saved states; no state takes more. Only pages in use become memory. */
#define FRAMES (MODEL_DEPTH * 0x10000UL)
/* Bytes below a stack's end that a thread clears, so that old contents make no new state. */
#define CLEARED 3072

struct model model;
static uint8_t arena_bytes[MODEL_ARENA] __attribute__((aligned(4096)));
uint8_t *const arena = arena_bytes;
static uint8_t stacks[MODEL_THREADS][MODEL_STACK] __attribute__((aligned(4096)));

static size_t arena_used;
static struct {
	const uint8_t *at;
	size_t size;
	const char *name;
} names[64];
static unsigned int n_names;
static bool ignored[MODEL_ARENA / 8];
static uint8_t whole[MODEL_ARENA / 8];

/* Lines that differ, or have differed, from the initial image. */
static uint8_t initial[MODEL_ARENA];
static bool touched[LINES];
static uint32_t lines[LINES];
static uint64_t initial_hash[LINES];
static uint32_t n_lines;

static uint8_t *frames;
static bool bounded;

/* ---- the program's memory ---- */

void *model_alloc(size_t size, size_t align)
{
	void *memory;

	arena_used = (arena_used + align - 1) / align * align;
	memory = arena + arena_used;
	arena_used += size;
	if (arena_used > MODEL_ARENA) {
		fprintf(stderr,
			"model: expected %zu bytes at most, found that a scenario wants more\n",
			MODEL_ARENA);
		exit(2);
	}
	return memory;
}

void model_name(const void *at, size_t size, const char *name)
{
	names[n_names].at = at;
	names[n_names].size = size;
	names[n_names++].name = name;
}

void model_ignore(const void *at, size_t size)
{
	memset(&ignored[((uint8_t *)at - arena) / 8], 1, (size + 7) / 8);
}

void model_whole(const void *at, size_t size)
{
	static uint8_t n;

	memset(&whole[((uint8_t *)at - arena) / 8], ++n, size / 8);
}

unsigned int state_whole(const void *at)
{
	return whole[((uint8_t *)at - arena) / 8];
}

void model_first(unsigned int thread)
{
	model.first[model.n_first++] = thread;
}

bool state_ignores(size_t word)
{
	return ignored[word];
}

const char *state_name_of(const void *at)
{
	static char text[128];
	size_t smallest = ~0UL;
	int best = -1;

	for (unsigned int i = 0; i < n_names; i++) {
		if ((const uint8_t *)at < names[i].at ||
		    (const uint8_t *)at >= names[i].at + names[i].size || names[i].size >= smallest)
			continue;
		smallest = names[i].size;
		best = i;
	}
	if (best < 0)
		snprintf(text, sizeof(text), "%p", at);
	else if (at == names[best].at)
		return names[best].name;
	else
		snprintf(text, sizeof(text), "%s+%zu", names[best].name,
			 (const uint8_t *)at - names[best].at);
	return text;
}

void model_thread(const char *name, void (*run)(void *argument), void *argument, bool service)
{
	struct thread *thread = &model.threads[model.n_threads];

	*thread = (struct thread){ .name = name,
				   .service = service,
				   .stack = stacks[model.n_threads++],
				   .run = run,
				   .argument = argument };
}

/* ---- hashes ---- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15UL;
	return hash ^ hash >> 29;
}

static uint64_t hash_line(uint32_t line, const uint8_t *bytes)
{
	uint64_t hash = line + 1, word;

	for (unsigned int i = 0; i < MODEL_LINE / 8; i++) {
		if (ignored[line * (MODEL_LINE / 8) + i])
			continue;
		memcpy(&word, bytes + 8 * i, 8);
		hash = mix(hash, word);
	}
	return mix(hash, line);
}

static uint64_t hash_words(uint64_t hash, const void *at, size_t size)
{
	const uint64_t *word = at;

	for (size_t i = 0; i < size / 8; i++)
		hash = mix(hash, word[i]);
	return hash;
}

static uint64_t hash_thread(const struct thread *thread)
{
	uint64_t hash = mix(thread->operation, (uint64_t)thread->at);

	if (thread->operation == ENDED && !thread->n_stores)
		return hash;
	hash = mix(hash, (uint64_t)thread->value << 32 | thread->mask);
	hash = mix(hash, (uint64_t)thread->polls << 32 | thread->whole);
	if (thread->operation != ENDED)
		hash = hash_words(mix(hash, thread->rsp), (void *)thread->rsp,
				  (uint64_t)thread->stack + MODEL_STACK - thread->rsp);
	for (unsigned int i = 0; i < thread->n_stores; i++) {
		hash = mix(hash, (uint64_t)thread->stores[i].at);
		hash = hash_words(hash, thread->stores[i].bytes,
				  (thread->stores[i].size + 7) & ~7U);
	}
	return hash;
}

static uint64_t hash_state(void)
{
	uint64_t hash = 0;

	/* A line that is as in the beginning counts as one that has never changed. */
	for (uint32_t i = 0; i < n_lines; i++)
		hash += hash_line(lines[i], arena + (size_t)lines[i] * MODEL_LINE) -
			initial_hash[lines[i]];
	for (unsigned int i = 0; i < model.n_threads; i++)
		hash = mix(hash, hash_thread(&model.threads[i]));
	if (bounded)
		hash = mix(mix(hash, (uint64_t)model.last), model.stops);
	return hash ? hash : 1;
}

/* The hashes of the states that have been seen, in a table with open addressing. */
static uint64_t *seen;
static uint64_t n_seen, room;

static bool put(uint64_t *table, uint64_t size, uint64_t hash)
{
	uint64_t at = hash & (size - 1);

	while (table[at] && table[at] != hash)
		at = (at + 1) & (size - 1);
	if (table[at])
		return false;
	table[at] = hash;
	return true;
}

static void grow(void)
{
	uint64_t more = room ? 2 * room : 1 << 16;
	uint64_t *table = calloc(more, sizeof(*table));

	if (!table) {
		fprintf(stderr, "model: no memory for more states\n");
		exit(2);
	}
	for (uint64_t i = 0; i < room; i++)
		if (seen[i])
			put(table, more, seen[i]);
	free(seen);
	seen = table;
	room = more;
}

bool state_is_new(void)
{
	if (2 * n_seen >= room)
		grow();
	if (!put(seen, room, hash_state()))
		return false;
	n_seen++;
	return true;
}

/* ---- saving ---- */

struct saved {
	uint32_t n_lines;
	uint32_t stops;
	struct thread *last;
	struct {
		uint64_t rsp;
		enum operation operation;
		uint32_t n_stores, size, mask, value, keep, add, whole, polls;
		void *at;
		const void *pc;
	} threads[MODEL_THREADS];
};

void *state_frames(void)
{
	return frames;
}

size_t state_save(void *to)
{
	struct saved *saved = to;
	uint8_t *at = (uint8_t *)(saved + 1);
	size_t size;

	saved->n_lines = n_lines;
	saved->last = model.last;
	saved->stops = model.stops;
	for (uint32_t i = 0; i < n_lines; i++, at += MODEL_LINE)
		memcpy(at, arena + (size_t)lines[i] * MODEL_LINE, MODEL_LINE);
	for (unsigned int i = 0; i < model.n_threads; i++) {
		const struct thread *thread = &model.threads[i];

		saved->threads[i] = (__typeof__(saved->threads[i])){
			thread->rsp,   thread->operation, thread->n_stores, thread->size,
			thread->mask,  thread->value,	  thread->keep,	    thread->add,
			thread->whole, thread->polls,	  thread->at,	    thread->pc
		};
		size = (uint64_t)thread->stack + MODEL_STACK - thread->rsp;
		memcpy(at, (void *)thread->rsp, size);
		at += size;
		size = thread->n_stores * sizeof(thread->stores[0]);
		memcpy(at, thread->stores, size);
		at += size;
	}
	return (at - (uint8_t *)to + 15) & ~15UL;
}

void state_restore(const void *from)
{
	const struct saved *saved = from;
	const uint8_t *at = (const uint8_t *)(saved + 1);
	size_t size;

	for (uint32_t i = 0; i < n_lines; i++) {
		uint8_t *line = arena + (size_t)lines[i] * MODEL_LINE;

		if (i < saved->n_lines)
			memcpy(line, at + (size_t)i * MODEL_LINE, MODEL_LINE);
		else
			memcpy(line, initial + (size_t)lines[i] * MODEL_LINE, MODEL_LINE);
	}
	at += (size_t)saved->n_lines * MODEL_LINE;
	model.last = saved->last;
	model.stops = saved->stops;
	for (unsigned int i = 0; i < model.n_threads; i++) {
		struct thread *thread = &model.threads[i];
		const __typeof__(saved->threads[i]) *of = &saved->threads[i];

		thread->rsp = of->rsp;
		thread->operation = of->operation;
		thread->n_stores = of->n_stores;
		thread->size = of->size;
		thread->mask = of->mask;
		thread->value = of->value;
		thread->keep = of->keep;
		thread->add = of->add;
		thread->whole = of->whole;
		thread->polls = of->polls;
		thread->at = of->at;
		thread->pc = of->pc;
		size = (uint64_t)thread->stack + MODEL_STACK - thread->rsp;
		memcpy((void *)thread->rsp, at, size);
		at += size;
		size = thread->n_stores * sizeof(thread->stores[0]);
		memcpy(thread->stores, at, size);
		at += size;
	}
}

void state_touch(const void *at, size_t size)
{
	size_t first = ((const uint8_t *)at - arena) / MODEL_LINE;
	size_t last = ((const uint8_t *)at + size - 1 - arena) / MODEL_LINE;

	for (size_t line = first; line <= last; line++) {
		if (touched[line])
			continue;
		touched[line] = true;
		initial_hash[line] = hash_line(line, initial + line * MODEL_LINE);
		lines[n_lines++] = line;
	}
}

/* ---- threads ---- */

void model_switch(uint64_t *from, uint64_t to);
__asm__(".text\n"
	".globl model_switch\n"
	"model_switch:\n"
	"	pushq %rbx\n"
	"	pushq %rbp\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbp\n"
	"	popq %rbx\n"
	"	ret\n");

static void first(void)
{
	struct thread *thread = model.self;

	thread->run(thread->argument);
	access_finish();
	thread_pause(ENDED, NULL, 0, thread->run);
	abort();
}

static void thread_begin(struct thread *thread)
{
	uint64_t *top = (uint64_t *)(thread->stack + MODEL_STACK);

	memset(thread->stack, 0, MODEL_STACK);
	/* As a call would leave it: no return address, and aligned. */
	*--top = 0;
	*--top = (uint64_t)first;
	thread->rsp = (uint64_t)(top - 6);
	thread->operation = NOTHING;
	thread->at = NULL;
	thread->pc = thread->run;
	thread->n_stores = 0;
	thread->looked = false;
	thread->polls = thread->whole = thread->size = thread->mask = thread->value = thread->keep =
		thread->add = 0;
}

/* Only the thread itself sees its stores. */
static void put_stores_on(struct thread *thread)
{
	for (unsigned int i = 0; i < thread->n_stores; i++) {
		struct store *store = &thread->stores[i];

		memcpy(store->under, store->at, store->size);
		memcpy(store->at, store->bytes, store->size);
	}
}

static void take_stores_off(struct thread *thread)
{
	for (unsigned int i = thread->n_stores; i--;)
		memcpy(thread->stores[i].at, thread->stores[i].under, thread->stores[i].size);
}

static void something_happens(const struct thread *by)
{
	for (unsigned int i = 0; i < model.n_threads; i++)
		if (&model.threads[i] != by)
			model.threads[i].polls = 0;
}

void state_show_store(struct thread *thread)
{
	struct store *store = &thread->stores[0];
	unsigned int n = 0, structure = state_whole(store->at);

	something_happens(NULL);
	do {
		memcpy(store[n].at, store[n].bytes, store[n].size);
		n++;
	} while (n < thread->n_stores && structure && state_whole(store[n].at) == structure);
	thread->n_stores -= n;
	memmove(store, store + n, thread->n_stores * sizeof(*store));
}

void thread_run(struct thread *thread)
{
	switch (thread->operation) {
	case TAKE:
		*(uint32_t *)thread->at = (*(uint32_t *)thread->at & thread->keep) + thread->add;
		break;
	case POST:
		*(uint32_t *)thread->at = thread->value;
		break;
	default:
		break;
	}
	something_happens(thread);
	model.self = thread;
	put_stores_on(thread);
	model.running = true;
	model_switch(&model.search_rsp, thread->rsp);
	model.running = false;
	take_stores_off(thread);
	memset((void *)(thread->rsp - CLEARED), 0, CLEARED);
}

void thread_pause(enum operation operation, const void *at, uint32_t size, const void *pc)
{
	struct thread *thread = model.self;

	thread->operation = operation;
	thread->looked = false;
	thread->polls += operation == YIELD;
	thread->whole = operation == LOAD ? state_whole(at) : 0;
	thread->at = (void *)at;
	thread->size = size;
	thread->pc = pc;
	model_switch(&thread->rsp, model.search_rsp);
}

/* ---- the beginning ---- */

void state_prepare(const struct scenario *scenario, bool bounded_search)
{
	frames = mmap(NULL, FRAMES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (frames == MAP_FAILED) {
		perror("model: mmap");
		exit(2);
	}
	scenario->prepare();
	bounded = bounded_search;
	memcpy(initial, arena, MODEL_ARENA);
}

void state_begin(void)
{
	for (uint32_t i = 0; i < n_lines; i++)
		memcpy(arena + (size_t)lines[i] * MODEL_LINE,
		       initial + (size_t)lines[i] * MODEL_LINE, MODEL_LINE);
	for (unsigned int i = 0; i < model.n_threads; i++)
		thread_begin(&model.threads[i]);
	model.last = NULL;
	model.stops = 0;
	n_seen = 0;
	if (room)
		memset(seen, 0, room * sizeof(*seen));
}
