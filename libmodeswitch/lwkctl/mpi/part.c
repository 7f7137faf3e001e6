// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/mpi/part.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "lwkctl/mpi/field.h"
#include "mpi/page.h"

/* Makes room for one more; NULL without memory. */
static void *grow(void **array, size_t *n, size_t size)
{
	if ((*n & (*n - 1)) == 0) {
		void *larger = reallocarray(*array, *n ? 2 * *n : 1, size);

		if (!larger)
			return NULL;
		*array = larger;
	}
	memset((char *)*array + *n * size, 0, size);
	return (char *)*array + (*n)++ * size;
}

/*
 * Returns the place of a name in an array that has 'n' names; n when it is new; -1 without memory. A
 * file can have millions of names, so no list is searched.
 */
static ssize_t place_of(struct json_object **places, const char *name, size_t n)
{
	struct json_object *found = *places ? field_of(*places, name) : NULL;

	if (found)
		return json_object_get_int64(found);
	if (!*places)
		*places = json_object_new_object();
	found = json_object_new_int64(n);
	if (*places && found && json_object_object_add(*places, name, found) == 0)
		return n;
	json_object_put(found);
	return -1;
}

static int read_members(struct profile_group *group, struct json_object *object, int ranks)
{
	struct json_object *list = field_of(object, "members");
	int64_t first = json_object_get_int64(field_of(object, "first"));
	int64_t stride = json_object_get_int64(field_of(object, "stride"));

	if (!list && (stride <= 0 || stride > ranks || first < 0 || first >= ranks))
		return 0;
	group->members = calloc(group->size, sizeof(int));
	for (int i = 0; group->members && i < group->size; i++) {
		int64_t rank =
			list ? json_object_get_int64(field_item(list, i)) : first + i * stride;

		if (rank < 0 || rank >= ranks) {
			free(group->members);
			group->members = NULL;
			return 0;
		}
		group->members[i] = rank;
	}
	return group->members ? 0 : -1;
}

static int read_group(struct profile *profile, struct json_object *object)
{
	struct profile_group *group;
	ssize_t place;
	char id[17];

	field_copy(id, sizeof(id), field_of(object, "id"));
	place = place_of(&profile->group_places, id, profile->n_groups);
	if (place < 0)
		return -1;
	if (place == (ssize_t)profile->n_groups) {
		int64_t size = json_object_get_int64(field_of(object, "size"));

		group = grow((void **)&profile->groups, &profile->n_groups, sizeof(*group));
		if (!group)
			return -1;
		group->size = size > 0 && size <= profile->ranks ? size : 0;
	}
	group = &profile->groups[place];
	return group->members || !group->size ? 0 : read_members(group, object, profile->ranks);
}

static int read_operations(struct profile *profile, struct json_object *part)
{
	struct json_object *rows = field_of(part, "collectives"),
			   *groups = field_of(part, "groups");

	for (size_t i = 0; i < field_length(rows); i++) {
		struct json_object *row = field_item(rows, i);
		struct profile_operation *operation = grow(
			(void **)&profile->operations, &profile->n_operations, sizeof(*operation));
		int64_t group = json_object_get_int64(field_item(row, 1));

		if (!operation)
			return -1;
		field_copy(operation->name, sizeof(operation->name), field_item(row, 0));
		if (group >= 0)
			field_copy(operation->group, sizeof(operation->group),
				   field_of(field_item(groups, group), "id"));
		operation->class = json_object_get_int64(field_item(row, 2)) & (PAGE_CLASSES - 1);
		operation->n = field_count(field_item(row, 3));
		operation->bytes = field_count(field_item(row, 4));
		operation->seconds = field_span(field_item(row, 5));
	}
	return 0;
}

static int read_edges(struct profile *profile, int rank, struct json_object *rows, bool fetched)
{
	for (size_t i = 0; i < field_length(rows); i++) {
		struct json_object *row = field_item(rows, i);
		int64_t peer = json_object_get_int64(field_item(row, 0));
		struct profile_edge *edge;

		if (peer < 0 || peer >= profile->ranks) {
			profile->unknown_peers += field_count(field_item(row, 2));
			continue;
		}
		edge = grow((void **)&profile->edges, &profile->n_edges, sizeof(*edge));
		if (!edge)
			return -1;
		edge->from = fetched ? peer : rank;
		edge->to = fetched ? rank : peer;
		edge->n = field_count(field_item(row, 2));
		edge->bytes = field_count(field_item(row, 3));
		edge->blocking = field_count(field_item(row, 4));
	}
	return 0;
}

static int read_turns(struct profile *profile, int rank, struct json_object *rows)
{
	for (size_t i = 0; i < field_length(rows); i++) {
		struct json_object *row = field_item(rows, i);
		int64_t peer = json_object_get_int64(field_item(row, 0));
		uint64_t leads = field_count(field_item(row, 1)),
			 follows = field_count(field_item(row, 2));
		struct profile_edge *edge;

		if (peer < 0 || peer >= profile->ranks) {
			profile->rank[rank].unknown_turns += leads + follows;
			continue;
		}
		edge = grow((void **)&profile->edges, &profile->n_edges, sizeof(*edge));
		if (!edge)
			return -1;
		edge->from = peer;
		edge->to = rank;
		edge->leads = leads;
		edge->follows = follows;
		edge->hidden = field_count(field_item(row, 3));
		edge->stream_seconds = field_span(field_item(row, 4));
	}
	return 0;
}

/* True for functions in which a rank waits until a message is there, or asks whether it is. */
static bool receives(const char *name)
{
	static const char *const begins[] = { "Wait", "Test", "Recv", "Sendrecv", "Mrecv" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	}
	return false;
}

static int read_functions(struct profile *profile, struct profile_rank *rank,
			  struct json_object *rows)
{
	for (size_t i = 0; i < field_length(rows); i++) {
		struct json_object *row = field_item(rows, i);
		struct profile_function *function;
		char name[33];
		double seconds = field_span(field_item(row, 2));
		ssize_t place;

		field_copy(name, sizeof(name), field_item(row, 0));
		place = place_of(&profile->function_places, name, profile->n_functions);
		if (place < 0 ||
		    (place == (ssize_t)profile->n_functions &&
		     !grow((void **)&profile->functions, &profile->n_functions, sizeof(*function))))
			return -1;
		function = &profile->functions[place];
		memcpy(function->name, name, sizeof(name));
		function->n += field_count(field_item(row, 1));
		function->seconds += seconds;
		if (seconds > function->most)
			function->most = seconds;
		if (strncmp(name, "Wait", 4) == 0)
			rank->waits += field_count(field_item(row, 1));
		if (receives(name))
			rank->receives += field_count(field_item(row, 1));
	}
	return 0;
}

/* All ranks of a profile run one program, as a rule. */
static void add_hash(struct profile *profile, struct json_object *string)
{
	char hash[sizeof(profile->program_hash)];

	field_copy(hash, sizeof(hash), string);
	if (strspn(hash, "0123456789abcdef") != sizeof(hash) - 1)
		return;
	if (*profile->program_hash && strcmp(profile->program_hash, hash) != 0)
		profile->several_programs = true;
	strcpy(profile->program_hash, profile->several_programs ? "" : hash);
}

int part_read(struct profile *profile, struct json_object *part)
{
	int64_t number = json_object_get_int64(field_of(part, "rank"));
	struct json_object *groups = field_of(part, "groups");
	struct profile_rank *rank;

	if (!field_of(part, "rank") || number < 0 || number >= profile->ranks ||
	    profile->rank[number].present)
		return 0;
	rank = &profile->rank[number];
	rank->present = true;
	profile->present++;
	field_copy(rank->host, sizeof(rank->host), field_of(part, "host"));
	field_copy(profile->program, sizeof(profile->program), field_of(part, "program"));
	add_hash(profile, field_of(part, "program_hash"));
	rank->seconds = field_span(field_of(part, "seconds"));
	rank->mpi_seconds = field_span(field_of(part, "mpi_seconds"));
	profile->unknown_sizes += field_count(field_of(part, "unknown_sizes"));
	profile->lost += field_count(field_of(part, "lost"));
	for (size_t i = 0; i < field_length(groups); i++) {
		if (read_group(profile, field_item(groups, i)) < 0)
			return -1;
	}
	if (read_functions(profile, rank, field_of(part, "calls")) < 0 ||
	    read_operations(profile, part) < 0 ||
	    read_edges(profile, number, field_of(part, "sent"), false) < 0 ||
	    read_turns(profile, number, field_of(part, "turns")) < 0)
		return -1;
	return read_edges(profile, number, field_of(part, "fetched"), true);
}
