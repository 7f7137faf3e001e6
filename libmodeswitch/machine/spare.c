// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/spare.h"

#include <hwloc.h>
#include <stdlib.h>

#include "base/child.h"
#include "base/files.h"
#include "machine/memory.h"

/* Bytes that Linux keeps in any case, on the whole machine. */
#define LINUX_KEEPS (128UL << 20)

/* Returns bytes. With less memory free, Linux reclaims memory for ever, or kills processes. */
static uint64_t own_mark(void)
{
	char text[64];

	return kernel_read(text, sizeof(text), "/proc/sys/vm/min_free_kbytes") > 0
		       ? strtoull(text, NULL, 10) << 10
		       : 0;
}

static uint64_t available(void)
{
	char text[8192];

	return kernel_read(text, sizeof(text), "/proc/meminfo") < 0
		       ? 0
		       : meminfo_bytes(text, "MemAvailable");
}

uint64_t memory_linux_can_spare(void)
{
	uint64_t keep = LINUX_KEEPS, has = available();

	if (2 * own_mark() > keep)
		keep = 2 * own_mark();
	return has > keep ? has - keep : 0;
}

bool memory_linux_is_short(void)
{
	return available() < own_mark() + LINUX_KEEPS / 4;
}

/* Runs in a child process, since a large cache takes long. Dirty pages stay. */
static int drop_file_cache(void *context)
{
	return kernel_write("1", "/proc/sys/vm/drop_caches");
}

void memory_make_room(unsigned node, uint64_t bytes, int64_t deadline)
{
	hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
	uint64_t total = 0, used = 0, cached = 0, free_elsewhere = 0, cached_elsewhere = 0;
	char text[8192];
	unsigned other;

	if (!nodes || kernel_read_list(nodes, "/sys/devices/system/node/has_memory") < 0)
		hwloc_bitmap_zero(nodes);
	hwloc_bitmap_foreach_begin(other, nodes) {
		uint64_t cache, room;

		if (kernel_read(text, sizeof(text), "/sys/devices/system/node/node%u/meminfo",
				other) < 0)
			continue;
		cache = meminfo_bytes(text, "Active(file)") + meminfo_bytes(text, "Inactive(file)");
		room = meminfo_bytes(text, "MemFree");
		if (other == node) {
			total = meminfo_bytes(text, "MemTotal");
			used = total - room;
			cached = cache;
		} else {
			cached_elsewhere += cache;
			free_elsewhere += room;
		}
	}
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_free(nodes);
	/* The part of the node that is taken is assumed to hold its share of the cache. */
	if (bytes < total)
		cached = (double)cached * bytes / total;
	if (used > bytes)
		used = bytes;
	if (cached >= memory_block_bytes() &&
	    (cached > cached_elsewhere / 4 || used + LINUX_KEEPS > free_elsewhere))
		child_call(drop_file_cache, &node, sizeof(node), deadline);
}
