// SPDX-License-Identifier: GPL-2.0-or-later
#include "migrate/place/policies.h"

#include <hwloc.h>
#include <stdio.h>
#include <string.h>

#include "migrate/base/context.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"

/* True when a line of numa_maps ("ADDRESS bind:0-1 …") names a node to be left. */
static bool names_node(const char *line, hwloc_const_bitmap_t from)
{
	char policy[256], *nodes;
	hwloc_bitmap_t named;
	struct ms_error ignored;
	bool does;

	if (sscanf(line, "%*x %255s", policy) != 1)
		return false;
	nodes = strrchr(policy, ':');
	named = nodes ? hwloc_bitmap_alloc() : NULL;
	does = named && ms_parse_cpus(nodes + 1, named, &ignored) == 0 &&
	       hwloc_bitmap_intersects(named, from);
	hwloc_bitmap_free(named);
	return does;
}

void policies_note(struct migration *migration)
{
	size_t n = 0;

	for (size_t i = 0; i < migration->n_processes; i++) {
		char path[64], line[8192];
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/numa_maps", migration->processes[i].pid);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file))
			n += names_node(line, migration->request->from);
		if (file)
			fclose(file);
	}
	if (n)
		migration_note(migration,
			       "%zu mappings have a memory policy that names the nodes to be left: "
			       "their new pages come from there; only the processes themselves can "
			       "change that (set_mempolicy, mbind)",
			       n);
}
