// SPDX-License-Identifier: GPL-2.0-or-later
#include "command/memory_binding.h"

#include <hwloc.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command_option.h"

#define VARIABLE "LWK_NUMA"
#define MAX_NODE 1023

/* Adds a number of "map_mem:", decimal or hexadecimal, or "1*3", which is 1 for three tasks. */
static int add_number(const char *item, hwloc_bitmap_t nodes)
{
	unsigned long node;
	char *end;

	errno = 0;
	node = strtoul(item, &end, 0);
	if (!isdigit((unsigned char)*item) || errno || node > MAX_NODE)
		return -1;
	if (*end == '*')
		end += 1 + strspn(end + 1, "0123456789");
	if (*end)
		return -1;
	return hwloc_bitmap_set(nodes, node);
}

/* Adds a mask of "mask_mem:", hexadecimal, with or without 0x. */
static int add_mask(const char *item, hwloc_bitmap_t nodes)
{
	const char *digits = strncmp(item, "0x", 2) == 0 ? item + 2 : item;
	size_t n = strspn(digits, "0123456789abcdefABCDEF");

	if (!n || n > (MAX_NODE + 1) / 4 ||
	    (digits[n] &&
	     (digits[n] != '*' || digits[n + 1 + strspn(digits + n + 1, "0123456789")])))
		return -1;
	for (size_t i = 0; i < n; i++) {
		char digit[2] = { digits[n - 1 - i] };
		unsigned long bits = strtoul(digit, NULL, 16);

		for (unsigned bit = 0; bit < 4; bit++) {
			if (bits >> bit & 1 && hwloc_bitmap_set(nodes, 4 * i + bit) < 0)
				return -1;
		}
	}
	return 0;
}

static int add_nodes(const char *list, hwloc_bitmap_t nodes,
		     int (*add)(const char *item, hwloc_bitmap_t nodes))
{
	char *copy = strdup(list), *rest = copy, *item;
	int ret = copy ? 0 : -1;

	while (ret == 0 && (item = strsep(&rest, ",")))
		ret = add(item, nodes);
	free(copy);
	return ret < 0 || hwloc_bitmap_iszero(nodes) ? -1 : 0;
}

/* Adds up the nodes of all tasks, because all tasks share one LWK. */
static int bind_to(const char *list, int (*add)(const char *item, hwloc_bitmap_t nodes), char *numa,
		   size_t size)
{
	hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
	char text[1024];
	int ret = -1;

	if (nodes && add_nodes(list, nodes, add) == 0 &&
	    hwloc_bitmap_list_snprintf(text, sizeof(text), nodes) < (int)sizeof(text) &&
	    snprintf(numa, size, "bind=%s", text) < (int)size)
		ret = 0;
	hwloc_bitmap_free(nodes);
	return ret;
}

/*
 * Writes the argument of --lwk-numa for a --mem-bind; "" when it says nothing about nodes. Words
 * before the kind of binding, such as "verbose,", are for the tasks' Linux side.
 */
static int translate(const char *binding, char *numa, size_t size)
{
	const char *map = strstr(binding, "map_mem:"), *mask = strstr(binding, "mask_mem:");

	*numa = '\0';
	if ((map || mask) && strstr(binding, "prefer"))
		return -1;
	if (map)
		return bind_to(map + strlen("map_mem:"), add_number, numa, size);
	if (mask)
		return bind_to(mask + strlen("mask_mem:"), add_mask, numa, size);
	if (strstr(binding, "rank"))
		return -1;
	if (strstr(binding, "local"))
		snprintf(numa, size, "local");
	return 0;
}

int memory_binding_hand_over(spank_t sp)
{
	const char *binding = command_option("mem-bind");
	char numa[1100];

	if (!binding)
		return 0;
	if (translate(binding, numa, sizeof(numa)) < 0) {
		slurm_error(
			"lwk: --mem-bind=%s (or SLURM_MEM_BIND): expected local, map_mem:NODES or "
			"mask_mem:MASKS without prefer, because all tasks share one LWK; use one "
			"of these, or --lwk-numa",
			binding);
		return -1;
	}
	if (!*numa)
		return 0;
	if (spank_job_control_setenv(sp, VARIABLE, numa, 1) != ESPANK_SUCCESS) {
		slurm_error("lwk: Slurm does not hand --mem-bind=%s to the job's nodes; use "
			    "--lwk-numa=%s instead",
			    binding, numa);
		return -1;
	}
	return 0;
}

const char *memory_binding(void)
{
	/* slurmd puts SPANK_ before what spank_job_control_setenv() has set. */
	return getenv("SPANK_" VARIABLE);
}
