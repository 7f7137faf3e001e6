// SPDX-License-Identifier: GPL-2.0-or-later
#include "explorer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "state.h"

/* ---- what could be done next ---- */

/* A step: a thread goes on, or the oldest store of its buffer becomes visible. */
struct step {
	uint8_t thread;
	bool drains, stops;
	uint8_t choice;
	/* For a report. */
	enum operation operation;
	uint32_t size;
	const void *at, *pc;
	uint64_t value;
};

/* A state on the way from the first to the present one, and the steps that are to be tried there. */
struct frame {
	struct frame *before;
	unsigned int n_steps, tried;
	struct step steps[2 * MODEL_THREADS + MODEL_CHOICES];
	size_t bytes; /* of the saved state, which follows */
};

/* After so many looks of a thread, while no other thread can go on, its wait never ends. */
#define POLLS 3
/* Walks at random before the search, which finds what they miss, and begins again then. */
#define WALKS 200

static struct frame *path;
static const struct scenario *scenario;
static unsigned int most_stops;
static uint64_t n_states, n_steps_tried, deepest, depth;

static bool can_go_on(const struct thread *thread);

/* Two threads that yield to each other do not wait. */
static bool another_can_go_on(const struct thread *thread)
{
	for (unsigned int i = 0; i < model.n_threads; i++) {
		const struct thread *other = &model.threads[i];

		if (other != thread &&
		    (other->n_stores || (other->operation != YIELD && can_go_on(other)) ||
		     (other->operation == YIELD && !other->polls)))
			return true;
	}
	return false;
}

static bool can_go_on(const struct thread *thread)
{
	switch (thread->operation) {
	case NOTHING:
	case LOAD:
	case POST:
	case CHOOSE:
		return true;
	case YIELD:
		return !thread->polls || (thread->polls < POLLS && !another_can_go_on(thread));
	case LOCKED:
		return !thread->n_stores;
	case STORE:
		return thread->n_stores < MODEL_STORES;
	case TAKE:
		return !thread->n_stores &&
		       (*(uint32_t *)thread->at & thread->mask) == thread->value;
	case ENDED:
		return false;
	}
	return false;
}

static unsigned int find_steps(struct step *steps)
{
	const struct thread *last = model.last;
	bool could_go_on =
		last && (can_go_on(last) || (last->n_stores && last->operation != ENDED));
	unsigned int n = 0;

	for (unsigned int i = 0; i < model.n_threads; i++) {
		const struct thread *thread = &model.threads[i];
		const struct store *store = &thread->stores[0];
		bool stops = could_go_on && thread != last;

		if (can_go_on(thread) && (!most_stops || model.stops + stops <= most_stops))
			for (unsigned int c = thread->operation == CHOOSE ? thread->value : 1; c--;)
				steps[n++] = (struct step){ .thread = i,
							    .stops = stops,
							    .choice = c,
							    .operation = thread->operation,
							    .at = thread->at,
							    .size = thread->size,
							    .pc = thread->pc };
		if (thread->n_stores)
			steps[n++] = (struct step){ .thread = i,
						    .drains = 1,
						    .at = store->at,
						    .size = store->size,
						    .pc = store->pc,
						    .value = *(const uint64_t *)store->bytes };
	}
	return n;
}

/* ---- reports ---- */

static const char *operation_name(const struct step *step)
{
	static const char *const names[] = {
		[NOTHING] = "begins",	[LOAD] = "loads",   [STORE] = "stores",
		[LOCKED] = "locks bus", [TAKE] = "takes",   [POST] = "posts",
		[CHOOSE] = "chooses",	[YIELD] = "yields", [ENDED] = "has ended"
	};

	return step->drains ? "shows" : names[step->operation];
}

static void print_step(const struct step *step)
{
	printf("#   %-14s %-9s %s", model.threads[step->thread].name, operation_name(step),
	       step->at ? state_name_of(step->at) : "");
	if (step->drains && step->size <= 8)
		printf(" = %lx", step->value & (~0UL >> (64 - 8 * step->size)));
	if (step->operation == CHOOSE && !step->drains)
		printf(" %u", step->choice);
	printf(" @%p\n", step->pc);
}

static void print_path(const struct frame *frame)
{
	if (!frame)
		return;
	print_path(frame->before);
	if (frame->tried)
		print_step(&frame->steps[frame->tried - 1]);
}

static void __attribute__((noreturn)) report(const char *what)
{
	printf("# found: %s\n# after these steps:\n", what);
	print_path(path);
	printf("# and then:\n");
	for (unsigned int i = 0; i < model.n_threads; i++) {
		const struct thread *thread = &model.threads[i];

		print_step(&(struct step){ .thread = i,
					   .operation = thread->operation,
					   .at = thread->at,
					   .size = thread->size,
					   .pc = thread->pc });
	}
	printf("not ok - %s: %s (%lu states)\n", scenario->name, what, n_states);
	exit(1);
}

void model_broken(const char *condition, const char *file, int line)
{
	static char text[512];

	snprintf(text, sizeof(text), "%s:%d: expected %s, found that not", file, line, condition);
	if (!model.running)
		report(text);
	model.broken = text;
	thread_pause(ENDED, NULL, 0, __builtin_return_address(0));
}

/* ---- the search ---- */

static void check_end(void)
{
	static char text[256];

	for (unsigned int i = 0; i < model.n_threads; i++) {
		if (model.threads[i].operation == ENDED || model.threads[i].service)
			continue;
		snprintf(text, sizeof(text), "%s waits for ever", model.threads[i].name);
		report(text);
	}
	if (scenario->at_end)
		scenario->at_end();
}

static void take_step(const struct step *step)
{
	struct thread *thread = &model.threads[step->thread];

	n_steps_tried++;
	if (step->drains) {
		state_show_store(thread);
		return;
	}
	model.last = thread;
	model.stops += step->stops;
	if (thread->operation == CHOOSE)
		thread->value = step->choice;
	thread_run(thread);
	if (model.broken)
		report(model.broken);
}

static void push(void)
{
	struct frame *frame = path ? (void *)((uint8_t *)(path + 1) + path->bytes) : state_frames();

	if (++depth > MODEL_DEPTH)
		report("steps without an end");
	frame->before = path;
	frame->n_steps = find_steps(frame->steps);
	frame->tried = 0;
	frame->bytes = state_save(frame + 1);
	path = frame;
	deepest = depth > deepest ? depth : deepest;
}

static void begin(void)
{
	state_begin();
	for (unsigned int i = 0; i < model.n_first; i++) {
		struct thread *thread = &model.threads[model.first[i]];

		while (thread->n_stores || can_go_on(thread)) {
			if (thread->n_stores)
				state_show_store(thread);
			else
				thread_run(thread);
		}
	}
}

/* Takes one way through, at random, which finds shared memory quickly. */
static void walk(void)
{
	struct step steps[2 * MODEL_THREADS + MODEL_CHOICES];
	unsigned int n, left = MODEL_DEPTH;

	begin();
	path = NULL;
	while ((n = find_steps(steps)) && left--) {
		struct thread *thread;
		const struct step *step = &steps[(unsigned int)rand() % n];

		thread = &model.threads[step->thread];
		if (step->drains) {
			state_show_store(thread);
			continue;
		}
		if (thread->operation == CHOOSE)
			thread->value = step->choice;
		thread_run(thread);
		/* The search finds it again, and has the shortest steps before it. */
		if (model.broken)
			break;
	}
	model.broken = NULL;
}

/* Returns false when some memory is shared that was not known to be. */
static bool search(void)
{
	bool here = true;

	begin();
	n_states = n_steps_tried = depth = deepest = 0;
	path = NULL;
	access_changed = false;
	state_is_new();
	push();
	while (path) {
		if (path->tried == path->n_steps) {
			if (!path->n_steps)
				check_end();
			path = path->before;
			depth--;
			here = false;
			continue;
		}
		if (!here)
			state_restore(path + 1);
		take_step(&path->steps[path->tried++]);
		here = false;
		if (access_changed)
			return false;
		if (!state_is_new())
			continue;
		n_states++;
		push();
		here = true;
	}
	return true;
}

static const struct scenario *find(const char *name)
{
	for (const struct scenario *each = scenarios; each->name; each++)
		if (strcmp(each->name, name) == 0)
			return each;
	return NULL;
}

static int usage(void)
{
	fprintf(stderr,
		"Usage: channel SCENARIO [STOPS]\n"
		"STOPS: how often at most a thread stops where it could go on; 0: no limit\n"
		"Scenarios:\n");
	for (const struct scenario *each = scenarios; each->name; each++)
		fprintf(stderr, "  %-16s %s\n", each->name, each->text);
	return 2;
}

int main(int argc, char **argv)
{
	unsigned int passes = 1;
	char bound[64] = "";

	if (argc < 2 || argc > 3)
		return usage();
	scenario = find(argv[1]);
	if (!scenario)
		return usage();
	most_stops = argc > 2 ? strtoul(argv[2], NULL, 10) : scenario->stops;
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	state_prepare(scenario, most_stops);
	for (unsigned int i = 0; i < WALKS; i++)
		walk();
	while (!search())
		passes++;
	if (most_stops)
		snprintf(bound, sizeof(bound), "with at most %u stops, ", most_stops);
	printf("ok - %s: %s: %s%lu states, %lu steps, at most %lu after another\n", scenario->name,
	       scenario->text, bound, n_states, n_steps_tried, deepest);
	return 0;
}
