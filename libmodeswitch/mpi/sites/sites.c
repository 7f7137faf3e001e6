// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/sites/sites.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpi/library/library.h"
#include "mpi/sites/messages.h"
#include "mpi/sites/model.h"

#define TAG 3 /* in communicators that no program has */
/* MPI libraries have about 2000 communicators; a team takes two of them. */
#define TEAMS_MAX 200
#define BUCKETS 1024

bool sites_enabled, sites_reproducible, sites_always;
struct path sites_inside, sites_across, sites_pieces, sites_lanes;
bool sites_start_slowly;

static uint64_t *world_sites; /* of each rank of MPI_COMM_WORLD; a hash of the site's name */
static int world_size;
static bool threads;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry {
	struct entry *next;
	struct team team;
} *buckets[BUCKETS];
static int n_teams;

/* ---- the sites of a communicator ---- */

/* Sets 'sites' to the site of each rank. False when a rank is of another MPI_COMM_WORLD. */
static bool read_sites(uint64_t handle, int size, uint64_t *sites)
{
	int *ranks = malloc(2 * size * sizeof(int));
	uint64_t group = 0, world = 0;
	bool known = ranks;

	for (int i = 0; ranks && i < size; i++)
		ranks[i] = i;
	known = ranks && LIBRARY_CALL(COMM_GROUP, handle, &group) == 0 &&
		LIBRARY_CALL(COMM_GROUP, library.world, &world) == 0 &&
		LIBRARY_CALL(GROUP_TRANSLATE_RANKS, group, size, ranks, world, ranks + size) == 0;
	for (int i = 0; known && i < size; i++) {
		int rank = ranks[size + i];

		known = rank >= 0 && rank < world_size;
		sites[i] = known ? world_sites[rank] : 0;
	}
	if (group)
		LIBRARY_CALL(GROUP_FREE, &group);
	if (world)
		LIBRARY_CALL(GROUP_FREE, &world);
	free(ranks);
	return known;
}

static void number_sites(struct team *team, const uint64_t *sites)
{
	int place = 0;

	for (int i = 0; i < team->size; i++) {
		int site = 0;

		while (site < team->n_sites && sites[team->firsts[site]] != sites[i])
			site++;
		if (site == team->n_sites)
			team->firsts[team->n_sites++] = i;
		team->site_of[i] = site;
		team->index_of[i] = team->site_sizes[site]++;
	}
	team->site = team->site_of[team->rank];
	team->index = team->index_of[team->rank];
	team->lanes = team->size;
	for (int site = 0; site < team->n_sites; site++) {
		if (team->site_sizes[site] < team->lanes)
			team->lanes = team->site_sizes[site];
		team->firsts[site] = place;
		place += team->site_sizes[site];
	}
	for (int i = 0; i < team->size; i++)
		team->members[team->firsts[team->site_of[i]] + team->index_of[i]] = i;
}

static void release(struct team *team)
{
	if (team->site_communicator)
		LIBRARY_CALL(COMM_FREE, &team->site_communicator);
	if (team->own_communicator)
		LIBRARY_CALL(COMM_FREE, &team->own_communicator);
	free(team->site_of);
	free(team->plans);
	team->site_of = NULL;
	team->plans = NULL;
	team->spans = false;
}

/* All arrays are in one piece of memory; without memory n_sites is 0. */
static void learn(struct team *team)
{
	uint64_t *sites = malloc(team->size * sizeof(*sites));

	if (sites && read_sites(team->handle, team->size, sites)) {
		team->site_of = calloc(5 * (size_t)team->size, sizeof(int));
		team->plans = model_plans();
		if (team->site_of && team->plans) {
			team->index_of = team->site_of + team->size;
			team->site_sizes = team->index_of + team->size;
			team->members = team->site_sizes + team->size;
			team->firsts = team->members + team->size;
			number_sites(team, sites);
		}
	}
	free(sites);
}

static bool split(struct team *team)
{
	return LIBRARY_CALL(COMM_SPLIT, team->handle, team->site, team->index,
			    &team->site_communicator) == 0 &&
	       LIBRARY_CALL(COMM_SPLIT, team->handle, 0, team->rank, &team->own_communicator) == 0;
}

/*
 * Collective. When one rank has no memory, or already has too many teams, no rank gets a team. Ranks
 * that find only one site exchange no messages.
 */
static void make(struct team *team)
{
	int mine, all = 0, inter = 0;

	if (LIBRARY_CALL(COMM_TEST_INTER, team->handle, &inter) != 0 || inter ||
	    LIBRARY_CALL(COMM_SIZE, team->handle, &team->size) != 0 || team->size < 3 ||
	    LIBRARY_CALL(COMM_RANK, team->handle, &team->rank) != 0)
		return;
	learn(team);
	if (team->n_sites == 1) {
		release(team);
		return;
	}
	mine = team->n_sites > 1 && __atomic_load_n(&n_teams, __ATOMIC_RELAXED) < TEAMS_MAX;
	if (LIBRARY_CALL(ALLREDUCE, &mine, &all, 1, library.integer, library.least, team->handle) !=
		    0 ||
	    !all || !split(team)) {
		release(team);
		return;
	}
	team->spans = true;
	__atomic_add_fetch(&n_teams, 1, __ATOMIC_RELAXED);
}

/* ---- teams by communicator ---- */

static void take_lock(void)
{
	if (threads)
		pthread_mutex_lock(&lock);
}

static void release_lock(void)
{
	if (threads)
		pthread_mutex_unlock(&lock);
}

static unsigned bucket(uint64_t handle)
{
	return handle * 0x9e3779b97f4a7c15ULL >> 54;
}

static struct entry *find(uint64_t handle)
{
	struct entry *entry = buckets[bucket(handle)];

	while (entry && entry->team.handle != handle)
		entry = entry->next;
	return entry;
}

struct team *sites_team(uint64_t handle)
{
	struct entry *entry;

	handle = library_handle(handle);
	take_lock();
	entry = find(handle);
	release_lock();
	if (!entry) {
		entry = calloc(1, sizeof(*entry));
		/* The other ranks wait for this one's answer. */
		if (!entry)
			abort();
		entry->team.handle = handle;
		/* Other threads may be in other communicators' calls, never in this one's. */
		make(&entry->team);
		take_lock();
		entry->next = buckets[bucket(handle)];
		buckets[bucket(handle)] = entry;
		release_lock();
	}
	return entry->team.spans ? &entry->team : NULL;
}

void sites_forget(uint64_t handle)
{
	struct entry **at = &buckets[bucket(handle)], *entry;

	if (!sites_enabled)
		return;
	take_lock();
	while (*at && (*at)->team.handle != handle)
		at = &(*at)->next;
	entry = *at;
	if (entry)
		*at = entry->next;
	release_lock();
	if (!entry)
		return;
	if (entry->team.spans) {
		__atomic_sub_fetch(&n_teams, 1, __ATOMIC_RELAXED);
		release(&entry->team);
	}
	free(entry);
}

/* ---- what a link costs ---- */

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

struct probe {
	char *buffer;
	int peer;
	uint64_t communicator;
	bool asks, in_pieces;
};

static void send_bytes(const struct probe *probe, int bytes)
{
	struct messages messages = messages_open(probe->communicator);

	if (probe->in_pieces) {
		messages_send(&messages, probe->buffer, bytes, library.byte, 1, probe->peer);
		messages_close(&messages);
	} else {
		LIBRARY_CALL(SEND, probe->buffer, bytes, library.byte, probe->peer, TAG,
			     probe->communicator);
	}
}

static void receive_bytes(const struct probe *probe, int bytes)
{
	struct messages messages = messages_open(probe->communicator);

	if (probe->in_pieces) {
		messages_receive(&messages, probe->buffer, bytes, library.byte, 1, probe->peer);
		messages_close(&messages);
	} else {
		LIBRARY_CALL(RECV, probe->buffer, bytes, library.byte, probe->peer, TAG,
			     probe->communicator, library.ignore_status);
	}
}

/* Returns the seconds from sending so many bytes to the answer, which has one byte. */
static double round_trip(const struct probe *probe, int bytes)
{
	double start = seconds();

	if (probe->asks) {
		send_bytes(probe, bytes);
		receive_bytes(probe, 1);
	} else {
		receive_bytes(probe, bytes);
		send_bytes(probe, 1);
	}
	return seconds() - start;
}

static struct path measure_path(const struct probe *probe, int bytes)
{
	struct path path = { .delay = 1e9 };
	double time;

	/* The first message makes the connection. */
	for (int i = 0; i < 4; i++) {
		time = round_trip(probe, 1);
		if (i && time / 2 < path.delay)
			path.delay = time / 2;
	}
	/* The first message makes TCP's window grow. */
	round_trip(probe, bytes);
	time = round_trip(probe, bytes) - 2 * path.delay;
	path.rate = time > 0 && bytes / time < 1e11 ? bytes / time : 1e11;
	return path;
}

/*
 * TCP sends little at once after a pause of a few hundred milliseconds, unless
 * net.ipv4.tcp_slow_start_after_idle or the congestion control say otherwise. The function pauses,
 * sends on a path that was measured without a pause, and returns how many seconds more it took.
 */
static double cost_of_pause(const struct probe *probe, const struct path *path)
{
	double without = SITES_PROBE_BYTES / path->rate + 2 * path->delay;

	/* The peer need not sleep: it waits for the message. */
	if (probe->asks && path->delay > 1e-3)
		usleep(300000 + 4e6 * path->delay);
	return round_trip(probe, SITES_PROBE_BYTES) - without;
}

/* Collective in 'team'. The first two sites stand for all of them; rank 0 is on the first one. */
static bool measure(const struct team *team)
{
	struct path paths[5] = { { 0 } };
	bool has_peer = team->site < 2 && team->index < team->lanes;
	struct probe probe = { .buffer = calloc(1, SITES_PROBE_BYTES) };

	/* The other ranks cannot measure without this one. */
	if (!probe.buffer)
		abort();
	probe.asks = team->index == 0;
	probe.peer = !team->index;
	probe.communicator = team->site_communicator;
	if (team->site == 0 && team->index < 2 && team->site_sizes[0] > 1)
		paths[0] = measure_path(&probe, SITES_PROBE_BYTES);
	probe.asks = team->site == 0;
	probe.peer = has_peer ? sites_member(team, !team->site, team->index) : 0;
	probe.communicator = team->own_communicator;
	for (int i = 1; i < 4; i++) {
		int lanes = i == 3 ? team->lanes : 1;

		LIBRARY_CALL(BARRIER, team->handle);
		probe.in_pieces = i > 1;
		if (has_peer && team->index < lanes)
			paths[i] = measure_path(&probe, SITES_PROBE_BYTES / lanes);
		paths[i].rate *= lanes;
	}
	LIBRARY_CALL(BARRIER, team->handle);
	if (has_peer && team->index == 0)
		paths[4].delay = cost_of_pause(&probe, &paths[2]);
	free(probe.buffer);
	if (LIBRARY_CALL(BCAST, paths, sizeof(paths), library.byte, 0, team->handle) != 0)
		return false;
	sites_inside = paths[0];
	sites_across = paths[1];
	sites_pieces = paths[2];
	sites_lanes = paths[3];
	sites_start_slowly = paths[4].delay > sites_across.delay;
	if (sites_inside.rate <= 0) /* the first site has one rank */
		sites_inside = (struct path){ 50e-6, 1e9 };
	return true;
}

/* ---- the start ---- */

/* The hash of an empty name, which nodes without switches have. */
#define NO_SITE 0xcbf29ce484222325ULL

/* "site1.node3" is in "site1": a node's place in Slurm's topology is the switches above it. */
static uint64_t own_site(void)
{
	const char *place = getenv("SLURM_TOPOLOGY_ADDR"), *end;
	uint64_t hash = NO_SITE;

	end = place ? strrchr(place, '.') : NULL;
	for (; end && place < end; place++)
		hash = (hash ^ (unsigned char)*place) * 0x100000001b3ULL;
	return hash;
}

/* Rank 0 says why the option does nothing. */
static void tell_why(void)
{
	int rank;

	if (LIBRARY_CALL(COMM_RANK, library.world, &rank) != 0 || rank)
		return;
	if (world_sites[0] == NO_SITE)
		fputs("lwk: --mpi-collectives=sites: expected SLURM_TOPOLOGY_ADDR with the "
		      "switches above each node, found none; the MPI library's own collective "
		      "operations are used. Sites need TopologyPlugin=topology/tree in "
		      "slurm.conf.\n",
		      stderr);
	else
		fputs("lwk: --mpi-collectives=sites: expected 3 ranks or more on several sites, "
		      "found them on one; the MPI library's own collective operations are "
		      "used\n",
		      stderr);
}

void sites_begin(bool multiple)
{
	const char *wanted = getenv("LWK_MPI_COLLECTIVES");
	uint64_t own = own_site();
	struct team *team;

	if (!wanted || strncmp(wanted, "sites", 5) != 0 || world_sites ||
	    LIBRARY_CALL(COMM_SIZE, library.world, &world_size) != 0)
		return;
	world_sites = calloc(world_size, sizeof(*world_sites));
	/* The other ranks wait for this one. */
	if (!world_sites)
		abort();
	if (LIBRARY_CALL(ALLGATHER, &own, sizeof(own), library.byte, world_sites, sizeof(own),
			 library.byte, library.world) != 0)
		return;
	threads = multiple;
	sites_reproducible = strstr(wanted, ",reproducible");
	sites_always = strstr(wanted, ",always");
	team = sites_team(library.world);
	sites_enabled = team && measure(team);
	if (!team)
		tell_why();
}
