// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/migrate/summary.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "lwkctl/common.h"

#define BAR_WIDTH 24
#define MEGABYTE (1ULL << 20)

static void print_bytes(FILE *file, uint64_t bytes)
{
	if (bytes && bytes < 10 * MEGABYTE)
		fprintf(file, "%ju KB", (uintmax_t)(bytes >> 10));
	else
		fprintf(file, "%ju MB", (uintmax_t)(bytes >> 20));
}

static unsigned percent(uint64_t part, uint64_t whole)
{
	return whole ? part * 100 / whole : 100;
}

void print_progress(const struct ms_migrate_state *state, void *context)
{
	double rate = state->seconds > 0 ? state->moved / state->seconds : 0;
	unsigned done = percent(state->moved, state->found);
	uint64_t left = state->found - state->moved;
	char bar[BAR_WIDTH + 1];

	if (done > 100 || state->moved > state->found) {
		done = 100;
		left = 0;
	}
	memset(bar, '.', BAR_WIDTH);
	memset(bar, '#', done * BAR_WIDTH / 100);
	bar[BAR_WIDTH] = '\0';
	fprintf(stderr, "\r\033[K[%s] %3u %%  %ju of %ju MB  %.0f MB/s  CPU %.1f %%", bar, done,
		(uintmax_t)(state->moved / MEGABYTE), (uintmax_t)(state->found / MEGABYTE),
		rate / MEGABYTE,
		state->seconds > 0 ? state->cpu_seconds * 100 / state->seconds : 0);
	if (state->hot_found)
		fprintf(stderr, "  hot %u %%", percent(state->hot_moved, state->hot_found));
	if (rate > 0)
		fprintf(stderr, "  %.0f s left", left / rate);
}

static void print_by_word(const char *title, const uint64_t *bytes, int n,
			  const char *(*word)(int number))
{
	bool any = false;

	for (int i = 0; i < n; i++) {
		if (!bytes[i])
			continue;
		printf("%s%s ", any ? ", " : title, word(i));
		print_bytes(stdout, bytes[i]);
		any = true;
	}
	if (any)
		putchar('\n');
}

static const char *left_word(int number)
{
	return ms_migrate_left_word(number);
}

static const char *kind_word(int number)
{
	return ms_migrate_kind_word(number);
}

static void print_notes(const char *notes)
{
	for (const char *end; *notes; notes = *end ? end + 1 : end) {
		end = strchrnul(notes, '\n');
		printf("  note: %.*s\n", (int)(end - notes), notes);
	}
}

void print_summary(const struct ms_migrate_request *request, const struct ms_migrate_state *state,
		   double stop_seconds)
{
	printf("%s ", request->dry_run ? "would move" : "moved");
	print_bytes(stdout, request->dry_run ? state->found : state->moved);
	if (!request->dry_run) {
		printf(" of ");
		print_bytes(stdout, state->found);
		printf(" in %.1f s: %.0f MB/s, %.2f s of CPU time (%.1f %%)", state->seconds,
		       state->moved / (state->seconds > 0 ? state->seconds : 1) / MEGABYTE,
		       state->cpu_seconds,
		       state->cpu_seconds * 100 / (state->seconds > 0 ? state->seconds : 1));
	}
	printf("; %u process%s%s", state->processes, state->processes == 1 ? "" : "es",
	       state->stopped ? "; stopped before the end" : "");
	if (stop_seconds > 0)
		printf(", within %.0f ms", stop_seconds * 1000);
	putchar('\n');
	printf("  use known from: %s%s\n", state->source,
	       strcmp(state->source, "accessed") == 0 ? " bits (lwkpart.ko)" : "");
	print_by_word("  among it: ", state->kinds, MS_KINDS, kind_word);
	if (state->gone) {
		printf("  freed meanwhile: ");
		print_bytes(stdout, state->gone);
		putchar('\n');
	}
	if (!request->dry_run)
		print_by_word("  left: ", state->left, MS_LEFT_REASONS, left_word);
	print_notes(state->notes);
}

void print_summary_json(const struct ms_migrate_request *request,
			const struct ms_migrate_state *state, double stop_seconds,
			const char *error)
{
	struct json_object *object = ms_migrate_state_to_json(state);

	json_add_text(object, "method", ms_migrate_method_word(request->method));
	if (state->stopped)
		json_object_object_add(object, "stop_seconds",
				       json_object_new_double(stop_seconds));
	json_add_text(object, "error", error);
	print_json(object);
}
