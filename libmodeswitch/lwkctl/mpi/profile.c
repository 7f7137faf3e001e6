// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/mpi/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lwkctl/mpi/field.h"
#include "lwkctl/mpi/part.h"

#define FILE_MAX (1ULL << 30)

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
		struct json_object *place = field_of(profile->group_places, operation->group);

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

/* ---- files ---- */

/* Adds one file's parts; the first file tells how many ranks there are. */
static int add_file(struct profile *profile, struct json_object *file, const char *name,
		    struct ms_error *err)
{
	int64_t ranks = json_object_get_int64(field_of(file, "ranks"));
	struct json_object *parts = field_of(file, "parts");

	if (json_object_get_int64(field_of(file, "version")) != 1 || ranks < 1 ||
	    ranks > PROFILE_RANKS_MAX || !field_length(parts))
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
		field_copy(profile->job, sizeof(profile->job), field_of(file, "job"));
	}
	for (size_t i = 0; i < field_length(parts); i++) {
		if (!profile->rank || part_read(profile, field_item(parts, i)) < 0)
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
