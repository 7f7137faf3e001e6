// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state.h"

extern char **environ;

/* hwloc obeys HWLOC_*: other files, other roots, even plugins to load. Root must not. */
static void forget_hwloc_environment(void)
{
	char name[128];

	for (char **variable = environ; variable && *variable;) {
		size_t length = strcspn(*variable, "=");

		if (strncmp(*variable, "HWLOC_", strlen("HWLOC_")) != 0 || length >= sizeof(name)) {
			variable++;
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)length, *variable);
		unsetenv(name);
		variable = environ;
	}
}

static int load(const char *xml, hwloc_topology_t *out, struct ms_error *err)
{
	hwloc_topology_t topology;

	forget_hwloc_environment();
	if (hwloc_topology_init(&topology) < 0)
		return ms_fail(err, "hwloc: %m");
	/*
	 * The cpuset that we are in ourselves, Slurm's for system processes, must hide
	 * nothing: not here, and not from slurmd, which may read the kept topology.
	 */
	if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
	    (!xml || hwloc_topology_set_xml(topology, xml) == 0) &&
	    hwloc_topology_load(topology) == 0 &&
	    hwloc_topology_allow(topology, NULL, NULL, HWLOC_ALLOW_FLAG_ALL) == 0) {
		*out = topology;
		return 0;
	}
	hwloc_topology_destroy(topology);
	return ms_fail(err, "%s: wanted an hwloc topology (XML, as lstopo writes it); found: %s",
		       xml ? xml : "this machine", strerror(errno));
}

int topology_load_xml(const char *path, hwloc_topology_t *out, struct ms_error *err)
{
	return load(path, out, err);
}

static void kept_path(char *path, size_t size)
{
	snprintf(path, size, "%s/topology.xml", state_dir);
}

int topology_load_node(bool lent, hwloc_topology_t *out, struct ms_error *err)
{
	char path[PATH_MAX];

	kept_path(path, sizeof(path));
	return load(lent && access(path, R_OK) == 0 ? path : NULL, out, err);
}

int topology_keep(hwloc_topology_t topology, struct ms_error *err)
{
	char path[PATH_MAX], fresh[PATH_MAX + 4];

	kept_path(path, sizeof(path));
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	if (hwloc_topology_export_xml(topology, fresh, 0) < 0 || chmod(fresh, 0644) < 0 ||
	    rename(fresh, path) < 0)
		return ms_fail(err, "%s: the topology cannot be kept: %m", path);
	return 0;
}

int topology_node_of_cpu(hwloc_topology_t topology, unsigned cpu)
{
	hwloc_obj_t node = NULL;
	int found = -1;

	if (!hwloc_get_pu_obj_by_os_index(topology, cpu))
		return -1;
	while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node))) {
		/* A CPU can be in several: nodes of high-bandwidth memory have higher numbers. */
		if (hwloc_bitmap_isset(node->cpuset, cpu) &&
		    (found < 0 || node->os_index < (unsigned)found))
			found = node->os_index;
	}
	return found;
}

uint64_t topology_distance(hwloc_topology_t topology, unsigned a, unsigned b)
{
	hwloc_obj_t from = hwloc_get_numanode_obj_by_os_index(topology, a);
	hwloc_obj_t to = hwloc_get_numanode_obj_by_os_index(topology, b);
	struct hwloc_distances_s *distances;
	hwloc_uint64_t value, back;
	unsigned n = 1;
	int found = -1;

	if (from && to &&
	    hwloc_distances_get_by_name(topology, "NUMALatency", &n, &distances, 0) == 0 && n) {
		found = hwloc_distances_obj_pair_values(distances, from, to, &value, &back);
		hwloc_distances_release(topology, distances);
	}
	if (found == 0)
		return value;
	return a == b ? 10 : 20;
}
