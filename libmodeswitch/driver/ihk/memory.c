// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * IHK tells sizes and NUMA nodes of what it has reserved, no addresses. A run is a chunk of just
 * the size that was asked for; in any other shape it is given back.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/process.h"
#include "driver/ihk/ihk.h"

/* Lists the chunks that are reserved and in no instance. The caller frees *chunks. */
static int list_chunks(struct ihk_mem_chunk **chunks, size_t *n)
{
	int count = ihk_count(ihk->get_num_reserved_mem_chunks(0), IHK_MAX_CHUNKS), error = 0;

	*n = 0;
	*chunks = NULL;
	if (count < 0)
		return count;
	*chunks = calloc(count + 1, sizeof(**chunks));
	if (!*chunks)
		return -ENOMEM;
	if (count)
		error = ihk->query_mem(0, *chunks, count);
	if (error) {
		free(*chunks);
		*chunks = NULL;
		return error < 0 ? error : -EPROTO;
	}
	*n = count;
	return 0;
}

static bool is_same(const struct ihk_mem_chunk *a, const struct ihk_mem_chunk *b)
{
	return a->size == b->size && a->numa_node_number == b->numa_node_number;
}

/* Removes from 'now' one chunk for each that is in 'before': what is left is new. */
static size_t keep_new(struct ihk_mem_chunk *now, size_t n, const struct ihk_mem_chunk *before,
		       size_t n_before)
{
	for (size_t i = 0; i < n_before; i++) {
		for (size_t j = 0; j < n; j++) {
			if (is_same(&before[i], &now[j])) {
				now[j] = now[--n];
				break;
			}
		}
	}
	return n;
}

/* Keeps what is new if it is the one chunk that was sought; gives it back otherwise, -ENOMEM. */
static int keep_or_give_back(struct owned *owned)
{
	struct ihk_mem_chunk *now, wanted = { owned->sought, owned->sought_node };
	size_t n;
	int error = list_chunks(&now, &n);

	if (error)
		return error;
	n = keep_new(now, n, owned->before, owned->n_before);
	if (n == 1 && is_same(&now[0], &wanted)) {
		error = owned_add_chunk(owned, wanted.size, wanted.numa_node_number);
	} else {
		error = -ENOMEM;
		for (size_t i = 0; i < n; i++)
			ihk->release_mem(0, &now[i], 1);
	}
	free(now);
	return error;
}

int ihk_settle(struct owned *owned)
{
	int error;

	if (!owned->seeker ||
	    (owned->seeker != getpid() && process_started(owned->seeker) == owned->seeker_started))
		return 0;
	error = keep_or_give_back(owned);
	if (error && error != -ENOMEM)
		return error;
	owned->seeker = 0;
	owned->n_before = 0;
	return owned_save(owned);
}

static int seek(struct owned *owned, uint64_t bytes, unsigned node)
{
	struct ihk_mem_chunk chunk = { bytes, node };
	int least = IHK_GRAIN, error;

	free(owned->before);
	error = list_chunks(&owned->before, &owned->n_before);
	if (error)
		return error;
	owned->seeker = getpid();
	owned->seeker_started = process_started(owned->seeker);
	owned->sought = bytes;
	owned->sought_node = node;
	error = owned_save(owned);
	if (error)
		return error;
	/*
	 * IHK takes no pages below this size, and refuses a size above Linux's largest page.
	 * keep_or_give_back() checks the shape of the memory afterwards.
	 */
	ihk->reserve_mem_conf(0, IHK_RESERVE_MEM_MIN_CHUNK_SIZE, &least);
	/* An error may leave a part of it reserved. */
	error = ihk->reserve_mem(0, &chunk, 1);
	if (error && error != -ENOMEM && error != -EINVAL)
		return error < 0 ? error : -EPROTO;
	error = keep_or_give_back(owned);
	owned->seeker = 0;
	owned->n_before = 0;
	return error;
}

int ihk_lend_run(int dev, uint64_t bytes, unsigned node, uint64_t *start)
{
	struct owned owned;
	int error, saved;

	if (!bytes || bytes % IHK_GRAIN)
		return -ENOMEM;
	error = owned_load(&owned);
	if (!error)
		error = ihk_settle(&owned);
	if (!error) {
		error = seek(&owned, bytes, node);
		saved = owned_save(&owned);
		error = error ? error : saved;
	}
	if (!error)
		*start = owned.chunks[owned.n_chunks - 1].key;
	owned_release(&owned);
	return error;
}

/* True when IHK has fewer chunks of this shape than the jobs: another program has given one back. */
static bool is_given_back(const struct owned *owned, const struct ihk_mem_chunk *chunk)
{
	struct ihk_mem_chunk *now, mine;
	size_t n;
	int more = 0, error = list_chunks(&now, &n);

	for (size_t i = 0; i < n; i++)
		more += is_same(&now[i], chunk);
	free(now);
	for (size_t i = 0; i < owned->n_chunks; i++) {
		mine = (struct ihk_mem_chunk){ owned->chunks[i].bytes, owned->chunks[i].node };
		more -= owned->chunks[i].instance < 0 && is_same(&mine, chunk);
	}
	return !error && more < 0;
}

int ihk_return_memory(int dev, uint64_t start, uint64_t bytes)
{
	struct owned_chunk *found;
	struct ihk_mem_chunk chunk;
	struct owned owned;
	int error = owned_load(&owned);

	if (error)
		return error;
	error = ihk_settle(&owned);
	if (!error)
		ihk_forget_removed(&owned);
	found = error ? NULL : owned_find_chunk(&owned, start);
	if (!error && (!found || found->bytes != bytes))
		error = -ENOENT;
	else if (!error && found->instance >= 0)
		error = -EBUSY;
	if (!error) {
		chunk = (struct ihk_mem_chunk){ found->bytes, found->node };
		error = ihk->release_mem(0, &chunk, 1);
		if (error == -EINVAL && is_given_back(&owned, &chunk))
			error = -ENOENT;
	}
	if (found && (!error || error == -ENOENT)) {
		owned_drop_chunk(&owned, found);
		error = owned_save(&owned);
	}
	owned_release(&owned);
	return error;
}

/* Counts the instance's chunks of that shape. */
static int count_assigned(int os, const struct ihk_mem_chunk *wanted)
{
	int n = ihk_count(ihk->os_get_num_assigned_mem_chunks(os), IHK_MAX_CHUNKS), found = 0,
	    error;
	struct ihk_mem_chunk *chunks;

	if (n < 0)
		return n;
	chunks = calloc(n + 1, sizeof(*chunks));
	if (!chunks)
		return -ENOMEM;
	error = n ? ihk->os_query_mem(os, chunks, n) : 0;
	for (int i = 0; !error && i < n; i++)
		found += is_same(&chunks[i], wanted);
	free(chunks);
	return error > 0 ? -EPROTO : error ? error : found;
}

int ihk_assign_memory(int dev, unsigned instance, uint64_t start, uint64_t bytes)
{
	struct owned_instance *of;
	struct owned_chunk *found;
	struct ihk_mem_chunk chunk;
	struct owned owned;
	int error = owned_load(&owned), before = 0, after;

	if (error)
		return error;
	found = owned_find_chunk(&owned, start);
	error = !found || found->bytes != bytes ? -ENOENT
		: found->instance >= 0		? -EBUSY
						: ihk_find_instance(&owned, instance, &of);
	if (!error) {
		chunk = (struct ihk_mem_chunk){ found->bytes, found->node };
		before = count_assigned(instance, &chunk);
		error = before < 0 ? before : 0;
	}
	if (!error) {
		found->instance = instance;
		error = owned_save(&owned);
	}
	if (!error)
		error = ihk->os_assign_mem(instance, &chunk, 1);
	if (!error) {
		/* IHK may have made up the size of several pieces. */
		after = count_assigned(instance, &chunk);
		error = after < 0 ? after : after == before + 1 ? 0 : -EXDEV;
	} else if (found && found->instance == (int)instance) {
		found->instance = -1;
		owned_save(&owned);
	}
	owned_release(&owned);
	return error > 0 ? -EPROTO : error;
}
