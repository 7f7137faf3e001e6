// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/mpi/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/page.h"

#define FILE_MAX (1ULL << 30)

struct profile_group {
	int size;
	int *members; /* NULL: unknown */
};

/* ---- growing arrays ---- */

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

/* ---- members of JSON, whatever stands there ---- */

static struct json_object *member(struct json_object *object, const char *name)
{
	struct json_object *found = NULL;

	json_object_object_get_ex(object, name, &found);
	return found;
}

static size_t length_of(struct json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

static struct json_object *item(struct json_object *array, size_t i)
{
	return i < length_of(array) ? json_object_array_get_idx(array, i) : NULL;
}

/* A count; 0 in place of what cannot be one. */
static uint64_t count(struct json_object *number)
{
	int64_t value = json_object_get_int64(number);

	return value > 0 && value < INT64_MAX / 65536 ? value : 0;
}

static double span(struct json_object *number)
{
	double value = json_object_get_double(number);

	return value > 0 && value < 1e12 ? value : 0;
}

static void copy_text(char *text, size_t size, struct json_object *string)
{
	const char *from = json_object_get_string(string);

	snprintf(text, size, "%s", from ? from : "");
	ms_make_printable(text);
}

/*
 * Returns the place of a name in an array that has 'n' names; n when it is new; -1 without memory. A
 * file can have millions of names, so no list is searched.
 */
static ssize_t place_of(struct json_object **places, const char *name, size_t n)
{
	struct json_object *found = *places ? member(*places, name) : NULL;

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

/* ---- one rank's part ---- */

static int read_members(struct profile_group *group, struct json_object *object, int ranks)
{
	struct json_object *list = member(object, "members");
	int64_t first = json_object_get_int64(member(object, "first"));
	int64_t stride = json_object_get_int64(member(object, "stride"));

	if (!list && (stride <= 0 || stride > ranks || first < 0 || first >= ranks))
		return 0;
	group->members = calloc(group->size, sizeof(int));
	for (int i = 0; group->members && i < group->size; i++) {
		int64_t rank = list ? json_object_get_int64(item(list, i)) : first + i * stride;

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

	copy_text(id, sizeof(id), member(object, "id"));
	place = place_of(&profile->group_places, id, profile->n_groups);
	if (place < 0)
		return -1;
	if (place == (ssize_t)profile->n_groups) {
		int64_t size = json_object_get_int64(member(object, "size"));

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
	struct json_object *rows = member(part, "collectives"), *groups = member(part, "groups");

	for (size_t i = 0; i < length_of(rows); i++) {
		struct json_object *row = item(rows, i);
		struct profile_operation *operation = grow(
			(void **)&profile->operations, &profile->n_operations, sizeof(*operation));
		int64_t group = json_object_get_int64(item(row, 1));

		if (!operation)
			return -1;
		copy_text(operation->name, sizeof(operation->name), item(row, 0));
		if (group >= 0)
			copy_text(operation->group, sizeof(operation->group),
				  member(item(groups, group), "id"));
		operation->class = json_object_get_int64(item(row, 2)) & (PAGE_CLASSES - 1);
		operation->n = count(item(row, 3));
		operation->bytes = count(item(row, 4));
		operation->seconds = span(item(row, 5));
	}
	return 0;
}

static int read_edges(struct profile *profile, int rank, struct json_object *rows, bool fetched)
{
	for (size_t i = 0; i < length_of(rows); i++) {
		struct json_object *row = item(rows, i);
		int64_t peer = json_object_get_int64(item(row, 0));
		struct profile_edge *edge;

		if (peer < 0 || peer >= profile->ranks) {
			profile->unknown_peers += count(item(row, 2));
			continue;
		}
		edge = grow((void **)&profile->edges, &profile->n_edges, sizeof(*edge));
		if (!edge)
			return -1;
		edge->from = fetched ? peer : rank;
		edge->to = fetched ? rank : peer;
		edge->n = count(item(row, 2));
		edge->bytes = count(item(row, 3));
		edge->blocking = count(item(row, 4));
	}
	return 0;
}

static int read_turns(struct profile *profile, int rank, struct json_object *rows)
{
	for (size_t i = 0; i < length_of(rows); i++) {
		struct json_object *row = item(rows, i);
		int64_t peer = json_object_get_int64(item(row, 0));
		uint64_t leads = count(item(row, 1)), follows = count(item(row, 2));
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
		edge->hidden = count(item(row, 3));
		edge->stream_seconds = span(item(row, 4));
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
	for (size_t i = 0; i < length_of(rows); i++) {
		struct json_object *row = item(rows, i);
		struct profile_function *function;
		char name[33];
		double seconds = span(item(row, 2));
		ssize_t place;

		copy_text(name, sizeof(name), item(row, 0));
		place = place_of(&profile->function_places, name, profile->n_functions);
		if (place < 0 ||
		    (place == (ssize_t)profile->n_functions &&
		     !grow((void **)&profile->functions, &profile->n_functions, sizeof(*function))))
			return -1;
		function = &profile->functions[place];
		memcpy(function->name, name, sizeof(name));
		function->n += count(item(row, 1));
		function->seconds += seconds;
		if (seconds > function->most)
			function->most = seconds;
		if (strncmp(name, "Wait", 4) == 0)
			rank->waits += count(item(row, 1));
		if (receives(name))
			rank->receives += count(item(row, 1));
	}
	return 0;
}

/* All ranks of a profile run one program, as a rule. */
static void add_hash(struct profile *profile, struct json_object *string)
{
	char hash[sizeof(profile->program_hash)];

	copy_text(hash, sizeof(hash), string);
	if (strspn(hash, "0123456789abcdef") != sizeof(hash) - 1)
		return;
	if (*profile->program_hash && strcmp(profile->program_hash, hash) != 0)
		profile->several_programs = true;
	strcpy(profile->program_hash, profile->several_programs ? "" : hash);
}

static int read_part(struct profile *profile, struct json_object *part)
{
	int64_t number = json_object_get_int64(member(part, "rank"));
	struct json_object *groups = member(part, "groups");
	struct profile_rank *rank;

	if (!member(part, "rank") || number < 0 || number >= profile->ranks ||
	    profile->rank[number].present)
		return 0;
	rank = &profile->rank[number];
	rank->present = true;
	profile->present++;
	copy_text(rank->host, sizeof(rank->host), member(part, "host"));
	copy_text(profile->program, sizeof(profile->program), member(part, "program"));
	add_hash(profile, member(part, "program_hash"));
	rank->seconds = span(member(part, "seconds"));
	rank->mpi_seconds = span(member(part, "mpi_seconds"));
	profile->unknown_sizes += count(member(part, "unknown_sizes"));
	profile->lost += count(member(part, "lost"));
	for (size_t i = 0; i < length_of(groups); i++) {
		if (read_group(profile, item(groups, i)) < 0)
			return -1;
	}
	if (read_functions(profile, rank, member(part, "calls")) < 0 ||
	    read_operations(profile, part) < 0 ||
	    read_edges(profile, number, member(part, "sent"), false) < 0 ||
	    read_turns(profile, number, member(part, "turns")) < 0)
		return -1;
	return read_edges(profile, number, member(part, "fetched"), true);
}

/* ---- all parts together ---- */

static int compare_edges(const void *a, const void *b)
{
	const struct profile_edge *x = a, *y = b;

	return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
				  : (x->to > y->to) - (x->to < y->to);
}

static void merge_edges(struct profile *profile)
{
	size_t n = 0;

	if (profile->n_edges)
		qsort(profile->edges, profile->n_edges, sizeof(*profile->edges), compare_edges);
	for (size_t i = 0; i < profile->n_edges; i++) {
		struct profile_edge *edge = &profile->edges[i];

		if (n && compare_edges(&profile->edges[n - 1], edge) == 0) {
			profile->edges[n - 1].n += edge->n;
			profile->edges[n - 1].bytes += edge->bytes;
			profile->edges[n - 1].blocking += edge->blocking;
			profile->edges[n - 1].leads += edge->leads;
			profile->edges[n - 1].follows += edge->follows;
			profile->edges[n - 1].hidden += edge->hidden;
			profile->edges[n - 1].stream_seconds += edge->stream_seconds;
		} else {
			profile->edges[n++] = *edge;
		}
	}
	profile->n_edges = n;
}

static int compare_operations(const void *a, const void *b)
{
	const struct profile_operation *x = a, *y = b;
	int names = strcmp(x->name, y->name), groups = strcmp(x->group, y->group);

	return names ? names : groups ? groups : x->class - y->class;
}

static void merge_operations(struct profile *profile)
{
	size_t n = 0;

	if (profile->n_operations)
		qsort(profile->operations, profile->n_operations, sizeof(*profile->operations),
		      compare_operations);
	for (size_t i = 0; i < profile->n_operations; i++) {
		struct profile_operation *row = &profile->operations[i], *to;

		if (!n || compare_operations(&profile->operations[n - 1], row) != 0) {
			profile->operations[n++] = *row;
			continue;
		}
		to = &profile->operations[n - 1];
		if (row->n > to->n)
			to->n = row->n;
		to->bytes += row->bytes;
		to->seconds += row->seconds;
	}
	profile->n_operations = n;
	for (size_t i = 0; i < n; i++) {
		struct profile_operation *operation = &profile->operations[i];
		struct json_object *place = member(profile->group_places, operation->group);

		if (!place)
			continue;
		operation->members = profile->groups[json_object_get_int64(place)].members;
		operation->size = profile->groups[json_object_get_int64(place)].size;
	}
}

static int compare_functions(const void *a, const void *b)
{
	const struct profile_function *x = a, *y = b;

	return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static void merge(struct profile *profile)
{
	merge_edges(profile);
	merge_operations(profile);
	if (profile->n_functions)
		qsort(profile->functions, profile->n_functions, sizeof(*profile->functions),
		      compare_functions);
}

/* Adds one file's parts; the first file tells how many ranks there are. */
static int add_file(struct profile *profile, struct json_object *file, const char *name,
		    struct ms_error *err)
{
	int64_t ranks = json_object_get_int64(member(file, "ranks"));
	struct json_object *parts = member(file, "parts");

	if (json_object_get_int64(member(file, "version")) != 1 || ranks < 1 ||
	    ranks > PROFILE_RANKS_MAX || !length_of(parts))
		return ms_fail(err,
			       "%s: expected an MPI profile of version 1 and up to %d ranks, found "
			       "something else; srun --mpi-profile makes one",
			       name, PROFILE_RANKS_MAX);
	if (profile->ranks && profile->ranks != ranks)
		return ms_fail(err,
			       "%s: expected a part of a profile with %d ranks, found %jd; name "
			       "files of one step only",
			       name, profile->ranks, (intmax_t)ranks);
	if (!profile->rank) {
		profile->ranks = ranks;
		profile->rank = calloc(ranks, sizeof(*profile->rank));
		copy_text(profile->job, sizeof(profile->job), member(file, "job"));
	}
	for (size_t i = 0; i < length_of(parts); i++) {
		if (!profile->rank || read_part(profile, item(parts, i)) < 0)
			return ms_fail(err, "%s: expected memory for the profile, found none",
				       name);
	}
	return 0;
}

static int add_text(struct profile *profile, const char *text, size_t length, const char *name,
		    struct ms_error *err)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *file;
	int ret;

	if (!tokener)
		return ms_fail(err, "%s: expected memory, found none", name);
	file = json_tokener_parse_ex(tokener, text, length);
	json_tokener_free(tokener);
	if (!json_object_is_type(file, json_type_object)) {
		json_object_put(file);
		return ms_fail(err,
			       "%s: expected an MPI profile in JSON, found something else; "
			       "srun --mpi-profile makes one",
			       name);
	}
	ret = add_file(profile, file, name, err);
	json_object_put(file);
	return ret;
}

static char *read_text(int fd, size_t *length)
{
	struct stat st;
	char *text;

	if (fstat(fd, &st) < 0)
		return NULL;
	errno = EINVAL;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size >= FILE_MAX)
		return NULL;
	text = malloc(st.st_size + 1);
	*length = 0;
	while (text && *length < (size_t)st.st_size) {
		ssize_t n = read(fd, text + *length, st.st_size - *length);

		if (n <= 0)
			break;
		*length += n;
	}
	return text;
}

int profile_read(char *const *paths, int n, struct profile *profile, struct ms_error *err)
{
	int ret = 0;

	memset(profile, 0, sizeof(*profile));
	for (int i = 0; i < n && ret == 0; i++) {
		int fd = open(paths[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		size_t length;
		char *text = fd < 0 ? NULL : read_text(fd, &length);

		if (!text)
			ret = ms_fail(err, "%s: %m", paths[i]);
		else
			ret = add_text(profile, text, length, paths[i], err);
		free(text);
		if (fd >= 0)
			close(fd);
	}
	if (ret < 0)
		profile_release(profile);
	else
		merge(profile);
	return ret;
}

int profile_parse(const char *text, size_t length, const char *name, struct profile *profile,
		  struct ms_error *err)
{
	memset(profile, 0, sizeof(*profile));
	if (add_text(profile, text, length, name, err) < 0) {
		profile_release(profile);
		return -1;
	}
	merge(profile);
	return 0;
}

void profile_release(struct profile *profile)
{
	for (size_t i = 0; i < profile->n_groups; i++)
		free(profile->groups[i].members);
	free(profile->groups);
	json_object_put(profile->group_places);
	json_object_put(profile->function_places);
	free(profile->rank);
	free(profile->edges);
	free(profile->operations);
	free(profile->functions);
	memset(profile, 0, sizeof(*profile));
}

double profile_seconds(const struct profile *profile)
{
	double longest = 0;

	for (int i = 0; i < profile->ranks; i++) {
		if (profile->rank[i].seconds > longest)
			longest = profile->rank[i].seconds;
	}
	return longest;
}
