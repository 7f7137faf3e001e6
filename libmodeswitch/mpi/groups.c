// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/groups.h"

#include <stdlib.h>

#include "mpi/library/library.h"

#define BUCKETS 1024

/* Groups by their handle's hash; the last one found stands first. */
static struct entry {
	struct entry *next;
	struct group group;
} *buckets[BUCKETS];
static struct group *last;

static unsigned bucket(uint64_t handle)
{
	return handle * 0x9e3779b97f4a7c15ULL >> 54;
}

/* Sets the ranks behind an MPI group, and frees it. */
static void translate(struct group *group, uint64_t of, bool identity)
{
	uint64_t world = 0;
	int *ranks;

	LIBRARY_CALL(GROUP_SIZE, of, &group->size);
	ranks = malloc(2 * (group->size + 1) * sizeof(int));
	if (ranks && !identity && LIBRARY_CALL(COMM_GROUP, library.world, &world) == 0) {
		for (int i = 0; i < group->size; i++)
			ranks[group->size + i] = i;
		if (LIBRARY_CALL(GROUP_TRANSLATE_RANKS, of, group->size, ranks + group->size, world,
				 ranks) == 0)
			group->world = ranks;
		LIBRARY_CALL(GROUP_FREE, &world);
	}
	if (!group->world) {
		free(ranks);
		if (!identity)
			group->size = 0; /* so each of its ranks is unknown */
	}
	LIBRARY_CALL(GROUP_FREE, &of);
}

static uint32_t member(const struct group *group, int i)
{
	return group->world ? (uint32_t)group->world[i] : (uint32_t)i;
}

static void describe(const struct page *page, const struct group *group, struct page_group *row)
{
	uint32_t stride = group->size > 1 ? member(group, 1) - member(group, 0) : 1;

	*row = (struct page_group){ .id = 0xcbf29ce484222325ULL,
				    .size = group->size,
				    .first = group->size ? member(group, 0) : 0 };
	for (int i = 0; i < group->size; i++) {
		row->id = (row->id ^ member(group, i)) * 0x100000001b3ULL;
		if (member(group, i) != row->first + i * stride)
			stride = 0;
	}
	row->stride = stride < page->ranks ? stride : 0;
	row->members = PAGE_MEMBERS;
}

/* Finds the group in the page, or adds it. Returns its place. */
static uint32_t place(struct page *page, const struct group *group)
{
	struct page_group row;
	uint32_t n = page->n_groups;

	describe(page, group, &row);
	for (uint32_t i = 0; i < n; i++) {
		if (page->groups[i].id == row.id && page->groups[i].size == row.size)
			return i;
	}
	if (n == PAGE_GROUPS)
		return PAGE_GROUPS;
	if (!row.stride && row.size <= PAGE_MEMBERS - page->n_members) {
		row.members = page->n_members;
		for (uint32_t i = 0; i < row.size; i++)
			page->members[row.members + i] = member(group, i);
		page->n_members += row.size;
	}
	page->groups[n] = row;
	page->n_groups = n + 1;
	return n;
}

static struct group *find(uint64_t handle)
{
	if (last && last->handle == handle)
		return last;
	for (struct entry *entry = buckets[bucket(handle)]; entry; entry = entry->next) {
		if (entry->group.handle == handle)
			return last = &entry->group;
	}
	return NULL;
}

static struct group *add(struct page *page, uint64_t handle, uint64_t of)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	struct entry **first = &buckets[bucket(handle)];
	int inter = 0;

	if (!entry)
		return NULL;
	entry->group.handle = handle;
	if (!of) {
		LIBRARY_CALL(COMM_TEST_INTER, handle, &inter);
		LIBRARY_CALL(inter ? COMM_REMOTE_GROUP : COMM_GROUP, handle, &of);
	}
	entry->group.inter = inter;
	translate(&entry->group, of, handle == library.world);
	entry->group.place = inter ? PAGE_GROUPS : place(page, &entry->group);
	entry->next = *first;
	*first = entry;
	return last = &entry->group;
}

const struct group *groups_of_communicator(struct page *page, uint64_t handle)
{
	struct group *group;

	handle = library_handle(handle);
	group = find(handle);
	return group ? group : add(page, handle, 0);
}

const struct group *groups_of_window(struct page *page, uint64_t handle)
{
	uint64_t of = 0;
	struct group *group;

	handle = library_handle(handle);
	group = find(handle);
	if (group || LIBRARY_CALL(WIN_GET_GROUP, handle, &of) != 0)
		return group;
	return add(page, handle, of);
}

void groups_forget(uint64_t handle)
{
	struct entry **at = &buckets[bucket(handle)];

	last = NULL;
	for (; *at; at = &(*at)->next) {
		struct entry *entry = *at;

		if (entry->group.handle != handle)
			continue;
		*at = entry->next;
		free(entry->group.world);
		free(entry);
		return;
	}
}
