// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/count.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi/groups.h"
#include "mpi/library/library.h"
#include "mpi/turns.h"

struct page *count_page;
bool count_threads;
__thread bool call_inside;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take_lock(void)
{
	if (count_threads)
		pthread_mutex_lock(&lock);
}

static void release_lock(void)
{
	if (count_threads)
		pthread_mutex_unlock(&lock);
}

/* Persistent requests by handle; a power of two. */
#define REQUESTS 65536
static struct request {
	uint64_t handle; /* 0: free, 1: was in use */
	struct call *call;
	struct page_peer *peer;		    /* of a message */
	struct page_collective *collective; /* of a collective operation */
	uint64_t bytes;
	uint32_t world; /* the peer of a message */
	bool receives;
} *requests;

/* ---- places in the page ---- */

static struct page_call *counter_of(struct call *call)
{
	struct page *page = count_page;

	if (!call->counter && page->n_calls < PAGE_CALLS) {
		call->counter = &page->calls[page->n_calls];
		strncpy(call->counter->name, call->name, sizeof(call->counter->name) - 1);
		page->n_calls++;
	}
	return call->counter;
}

/* The number of a group's rank in the world; that of unknown ones when it is none. */
static uint32_t world_of(const struct group *group, int peer)
{
	struct page *page = count_page;

	if (group && peer >= 0 && peer < group->size) {
		int rank = group->world ? group->world[peer] : peer;

		if (rank >= 0 && (uint32_t)rank < page->ranks)
			return rank;
	}
	return page->ranks;
}

static struct page_peer *peer_row(const struct call *call, uint32_t world, uint64_t bytes)
{
	struct page *page = count_page;

	if (call->fetches)
		world += page->ranks + 1;
	return &page->peers[world][page_class(bytes)];
}

static struct page_collective *collective_row(struct call *call, const struct group *group,
					      uint64_t bytes)
{
	struct page *page = count_page;
	struct page_call *counter = counter_of(call);
	struct page_collective key = { .class = page_class(bytes), .used = 1 };
	uint32_t hash;

	if (!counter)
		return NULL;
	key.call = counter - page->calls;
	key.group = group ? group->place : PAGE_GROUPS;
	hash = (key.call * PAGE_CLASSES + key.class) * 0x9e3779b1u + key.group * 0x85ebca6bu;
	for (unsigned i = 0; i < 64; i++) {
		struct page_collective *row =
			&page->collectives[((hash >> 8) + i) & (PAGE_COLLECTIVES - 1)];

		if (!row->used) {
			*row = key;
			page->n_collectives++;
		}
		if (row->call == key.call && row->group == key.group && row->class == key.class)
			return row;
	}
	return NULL;
}

/* ---- what a row is given ---- */

static void add_message(const struct call *call, struct page_peer *row, uint32_t world,
			uint64_t bytes)
{
	if (!call->window)
		turns_sent(count_page, world);
	row->n++;
	row->bytes += bytes;
	row->blocking += call->blocking;
}

static void add_collective(struct page_collective *row, uint64_t bytes, uint64_t ticks)
{
	if (!row) {
		count_page->lost++;
		return;
	}
	row->n++;
	row->bytes += bytes;
	row->ticks += ticks;
}

static struct request *request_slot(uint64_t handle, bool add)
{
	uint32_t hash = handle * 0x9e3779b97f4a7c15ULL >> 48;
	struct request *reusable = NULL;

	if (!requests && add)
		requests = calloc(REQUESTS, sizeof(*requests));
	for (unsigned i = 0; requests && i < 256; i++) {
		struct request *slot = &requests[(hash + i) & (REQUESTS - 1)];

		if (slot->handle == handle)
			return slot;
		if (slot->handle <= 1 && !reusable)
			reusable = slot;
		if (!slot->handle)
			break;
	}
	return add ? reusable : NULL;
}

/* Remembers what is to be counted when the request that the call has made is started. */
static void remember(const uint64_t *a, struct request request)
{
	struct request *slot;

	request.handle = library_handle_at(a[request.call->request]);
	slot = request_slot(request.handle, true);
	if (slot)
		*slot = request;
	else
		count_page->lost++;
}

/* ---- messages ---- */

static uint64_t bytes_of(const struct call *call, uint64_t count, uint64_t type)
{
	int64_t size = library_type_size(type), n = call->large ? (int64_t)count : (int)count;

	if (size >= 0 && n >= 0)
		return (uint64_t)n * size;
	count_page->unknown_sizes++;
	return 0;
}

/* The rank of the group that a receive has got a message from. */
static int source_of(const struct call *call, const uint64_t *a)
{
	int source = a[call->source], any = library.mpich ? -2 : -1;
	uint64_t status = call->status ? a[call->status] : 0;

	/* MPI_SOURCE is where the library has it; MPICH's MPI_STATUS_IGNORE is 1. */
	if (source == any && status > 1 && status != library.ignore_status)
		return ((int *)status)[library.mpich ? 2 : 0];
	return source;
}

void count_receive(struct call *call, const uint64_t *a, uint64_t ticks)
{
	int source = source_of(call, a), nobody = library.mpich ? -1 : -2; /* MPI_PROC_NULL */
	uint32_t world;

	if (source == nobody)
		return;
	world = world_of(groups_of_communicator(count_page, a[call->communicator]), source);
	if (call->persistent)
		remember(a, (struct request){ .call = call, .world = world, .receives = true });
	else if (call->blocking)
		turns_received(count_page, world, call_ticks());
	else
		turns_posted(count_page, world, call_ticks());
}

void count_completion(struct call *call, const uint64_t *a, uint64_t ticks)
{
	/* Tests tell by a flag whether anything has completed. */
	if (!call->count || *(int *)a[call->count] > 0)
		turns_completed(count_page, call_ticks());
}

static void count_sent(struct call *call, const uint64_t *a)
{
	const struct group *group;
	struct page_peer *row;
	int peer = a[call->peer];
	uint32_t world;
	uint64_t bytes;

	if (peer < 0) /* MPI_PROC_NULL */
		return;
	group = call->window ? groups_of_window(count_page, a[call->window])
			     : groups_of_communicator(count_page, a[call->communicator]);
	bytes = call->count ? bytes_of(call, a[call->count], a[call->type])
			    : (uint64_t)library_type_size(a[call->type]);
	if (call->partitions)
		bytes *= (int)a[call->partitions];
	world = world_of(group, peer);
	row = peer_row(call, world, bytes);
	if (call->persistent)
		remember(a, (struct request){
				    .call = call, .peer = row, .bytes = bytes, .world = world });
	else
		add_message(call, row, world, bytes);
}

void count_message(struct call *call, const uint64_t *a, uint64_t ticks)
{
	count_sent(call, a);
	if (call->source)
		count_receive(call, a, ticks);
}

/* ---- collective operations ---- */

static void collective(struct call *call, const uint64_t *a, const struct group *group,
		       uint64_t bytes, uint64_t ticks)
{
	struct page_collective *row = collective_row(call, group, bytes);

	if (call->persistent) {
		remember(a, (struct request){ .call = call, .collective = row, .bytes = bytes });
		return;
	}
	add_collective(row, bytes, ticks);
	if (call->meets)
		turns_met();
}

/* In place, and between two groups, arguments may be without meaning: a type may be none. */
static bool has_count(const struct call *call, const uint64_t *a, const struct group *group)
{
	return call->count && group && !group->inter &&
	       !(call->buffer && a[call->buffer] == library.in_place);
}

void count_collective(struct call *call, const uint64_t *a, uint64_t ticks)
{
	const struct group *group = groups_of_communicator(count_page, a[call->communicator]);
	uint64_t bytes = 0;

	if (has_count(call, a, group))
		bytes = bytes_of(call, a[call->count], a[call->type]);
	collective(call, a, group, bytes, ticks);
}

/* The number of neighbours that a rank sends to; 0 when it is unknown. */
static int neighbours(uint64_t communicator)
{
	int topology = 0, from = 0, to = 0, weighted;
	int cartesian = library.mpich ? 2 : 1, graph = 3; /* MPI_CART, MPI_DIST_GRAPH */

	LIBRARY_CALL(TOPO_TEST, communicator, &topology);
	if (topology == graph)
		LIBRARY_CALL(DIST_GRAPH_NEIGHBORS_COUNT, communicator, &from, &to, &weighted);
	else if (topology == cartesian && LIBRARY_CALL(CARTDIM_GET, communicator, &to) == 0)
		to *= 2;
	else
		count_page->unknown_sizes++;
	return to;
}

static uint64_t vector_bytes(const struct call *call, const uint64_t *a, int n)
{
	uint64_t bytes = 0;

	for (int i = 0; i < n; i++) {
		uint64_t counts = a[call->count];

		bytes += call->large ? ((uint64_t *)counts)[i] : ((uint32_t *)counts)[i];
	}
	return n > 0 ? bytes_of(&(struct call){ .large = true }, bytes, a[call->type]) : 0;
}

void count_vector(struct call *call, const uint64_t *a, uint64_t ticks)
{
	const struct group *group = groups_of_communicator(count_page, a[call->communicator]);
	uint64_t bytes = 0;

	if (call->neighbours)
		bytes = vector_bytes(call, a, neighbours(a[call->communicator]));
	else if (has_count(call, a, group))
		bytes = vector_bytes(call, a, group->size);
	collective(call, a, group, bytes, ticks);
}

void count_types_vector(struct call *call, const uint64_t *a, uint64_t ticks)
{
	const struct group *group = groups_of_communicator(count_page, a[call->communicator]);
	uint64_t bytes = 0;

	for (int i = 0; has_count(call, a, group) && i < group->size; i++) {
		uint64_t counts = a[call->count];
		uint64_t count = call->large ? ((uint64_t *)counts)[i] : ((uint32_t *)counts)[i];

		if (count)
			bytes += bytes_of(call, count, library_handle_in(a[call->type], i));
	}
	collective(call, a, group, bytes, ticks);
}

/* ---- persistent requests ---- */

static void start(uint64_t handle)
{
	struct request *request = request_slot(handle, false);

	if (!request)
		return; /* there was no room for it */
	if (request->receives)
		turns_posted(count_page, request->world, call_ticks());
	else if (request->peer)
		add_message(request->call, request->peer, request->world, request->bytes);
	else
		add_collective(request->collective, request->bytes, 0);
}

void count_start(struct call *call, const uint64_t *a, uint64_t ticks)
{
	start(library_handle_at(a[1]));
}

void count_start_all(struct call *call, const uint64_t *a, uint64_t ticks)
{
	for (int i = 0; i < (int)a[1]; i++)
		start(library_handle_in(a[2], i));
}

void count_free(const struct call *call, const uint64_t *a)
{
	take_lock();
	groups_forget(library_handle_at(a[1]));
	release_lock();
}

void count_free_request(const struct call *call, const uint64_t *a)
{
	struct request *slot;

	take_lock();
	slot = request_slot(library_handle_at(a[1]), false);
	if (slot)
		slot->handle = 1;
	release_lock();
}

/* ---- the frame of each call ---- */

bool call_enter(struct call *call, const uint64_t *a)
{
	call_inside = true;
	if (call->before)
		call->before(call, a);
	return true;
}

static uint64_t nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

void call_leave(struct call *call, const uint64_t *a, uint64_t ticks, int result)
{
	struct page_call *counter;

	take_lock();
	if (result == 0 && call->after && (count_page || call->begins))
		call->after(call, a, ticks);
	if (count_page && !call->begins) {
		counter = counter_of(call);
		if (counter) {
			counter->n++;
			counter->ticks += ticks;
			/*
			 * Both clocks are read at times, so that a killed rank's page has times
			 * too.
			 */
			if ((counter->n & 1023) == 1) {
				count_page->last_ns = nanoseconds();
				count_page->last_ticks = call_ticks();
			}
		} else {
			count_page->lost++;
		}
		count_page->mpi_ticks += ticks;
	}
	release_lock();
	call_inside = false;
}
