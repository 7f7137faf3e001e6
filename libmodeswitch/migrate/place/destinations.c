// SPDX-License-Identifier: GPL-2.0-or-later
#include "migrate/place/destinations.h"

#include <stdio.h>
#include <unistd.h>

#include "base/files.h"
#include "migrate/base/context.h"

/* These bytes stay free on each node, so that its programs need not reclaim memory. */
#define ROOM_BYTES (32UL << 20)
/* kswapd gets so long to make room where pages of files are in the way. */
#define KSWAPD_MS 500
#define KSWAPD_LOOK_MS 10

/* Bytes that a node can take: free memory, and pages of files that nobody used lately. */
static uint64_t room_on(unsigned node)
{
	char text[8192];

	if (kernel_read(text, sizeof(text), "/sys/devices/system/node/node%u/meminfo", node) < 0)
		return 0;
	return meminfo_bytes(text, "MemFree") + meminfo_bytes(text, "Inactive(file)");
}

int destinations_drop_fullest(struct migration *migration, struct ms_error *err)
{
	unsigned fullest = 0;

	for (unsigned i = 1; i < migration->n_to; i++) {
		if (room_on(migration->to[i]) < room_on(migration->to[fullest]))
			fullest = i;
	}
	migration_note(migration, "node %u is full", migration->to[fullest]);
	migration->to[fullest] = migration->to[migration->n_to - 1];
	if (--migration->n_to)
		return 0;
	migration->full = true;
	return ms_fail(err,
		       "expected room for %s memory, found the nodes to move to full; free memory "
		       "there, or name more nodes with --to",
		       migration->state.moved ? "more" : "the");
}

/*
 * Bytes that must stay free on a node. Below the "min" watermarks the allocation of a page that
 * moves waits for reclaim, and when that finds nothing it fails, with a call trace in the kernel's
 * log. The floor is halfway to "low", where kswapd wakes up and reclaims. One value, the largest,
 * serves all nodes.
 */
static uint64_t watermark_floor(void)
{
	FILE *file = fopen("/proc/zoneinfo", "re");
	unsigned node, last = 0;
	unsigned long pages, sum = 0, floor = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Node %u, zone", &node) == 1) {
			sum = node == last ? sum : 0;
			last = node;
		} else if (sscanf(line, " min %lu", &pages) == 1 ||
			   sscanf(line, " low %lu", &pages) == 1) {
			sum += pages;
			floor = sum > floor ? sum : floor;
		}
	}
	if (file)
		fclose(file);
	return floor / 2 * PAGE_BYTES;
}

/* Bytes free above the floor; waits for kswapd while that is less than wanted. */
static uint64_t free_on(struct migration *migration, unsigned node, uint64_t wanted)
{
	uint64_t room = 0;
	char text[8192];

	for (unsigned waited = 0; waited <= KSWAPD_MS; waited += KSWAPD_LOOK_MS) {
		if (kernel_read(text, sizeof(text), "/sys/devices/system/node/node%u/meminfo",
				node) < 0)
			return 0;
		room = meminfo_bytes(text, "MemFree");
		room = room > migration->floor ? room - migration->floor : 0;
		if (room >= wanted || migration_stopped(migration))
			break;
		usleep(KSWAPD_LOOK_MS * 1000);
	}
	return room;
}

int destinations_check_room(struct migration *migration, uint64_t bytes, struct ms_error *err)
{
	uint64_t room, least = UINT64_MAX;

	if (migration->state.moved + bytes <= migration->room_until)
		return 0;
	if (!migration->floor)
		migration->floor = watermark_floor();
	for (unsigned i = 0; i < migration->n_to;) {
		room = 0;
		if (room_on(migration->to[i]) >= bytes + ROOM_BYTES)
			room = free_on(migration, migration->to[i], bytes);
		if (room < bytes) {
			if (destinations_drop_fullest(migration, err) < 0)
				return -1;
			i = 0;
			continue;
		}
		least = room < least ? room : least;
		i++;
	}
	/* Other programs take memory, too: the next check comes long before ours has filled it. */
	migration->room_until = migration->state.moved + (least > 4 * bytes ? least / 4 : bytes);
	return 0;
}
