// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/topology.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "machine/sysview/sysview.h"
#include "machine/topology_load.h"
#include "store/state.h"

/* The key under which a kept topology has what describe_machine() said when it was read. */
#define MACHINE_KEY "LwkMachine"

/* Describes all that changes the topology of an idle machine without a reboot. */
static int describe_machine(char *text, size_t size, struct ms_error *err)
{
	static const char *const lists[] = { "/sys/devices/system/cpu/online",
					     "/sys/devices/system/node/has_cpu",
					     "/sys/devices/system/node/has_memory" };
	char path[PATH_MAX];
	struct dirent *entry;
	unsigned blocks = 0;
	size_t at = 0;
	DIR *dir;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		char list[4096];

		if (kernel_read(list, sizeof(list), "%s", lists[i]) < 0)
			return ms_fail(err, "%s cannot be read", lists[i]);
		at += snprintf(text + at, at < size ? size - at : 0, "%s;", list);
	}
	snprintf(path, sizeof(path), "%s/sys/devices/system/memory", files_root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		blocks += strncmp(entry->d_name, "memory", strlen("memory")) == 0;
	if (dir)
		closedir(dir);
	at += snprintf(text + at, at < size ? size - at : 0, "%u memory blocks", blocks);
	if (at >= size)
		return ms_fail(err,
			       "expected less than %zu characters in this machine's lists of CPUs "
			       "and NUMA nodes, found %zu",
			       size, at);
	return 0;
}

static int keep_topology(hwloc_topology_t topology, const char *machine, const char *path,
			 struct ms_error *err)
{
	char fresh[PATH_MAX + 4];

	snprintf(fresh, sizeof(fresh), "%s.new", path);
	if (hwloc_obj_add_info(hwloc_get_root_obj(topology), MACHINE_KEY, machine) < 0 ||
	    hwloc_topology_export_xml(topology, fresh, 0) < 0 || chmod(fresh, 0644) < 0 ||
	    rename(fresh, path) < 0)
		return ms_fail(err, "%s: the topology cannot be kept: %m", path);
	return 0;
}

/* Loads the kept topology if it is still true. */
static bool load_kept(const char *path, const char *machine, hwloc_topology_t *out)
{
	struct ms_error ignored;
	const char *of;

	if (access(path, R_OK) < 0 || topology_load_own(path, out, &ignored) < 0)
		return false;
	of = hwloc_obj_get_info_by_name(hwloc_get_root_obj(*out), MACHINE_KEY);
	if (of && strcmp(of, machine) == 0)
		return true;
	hwloc_topology_destroy(*out);
	return false;
}

int topology_load_node(bool lent, bool keep, hwloc_topology_t *out, struct ms_error *err)
{
	char path[PATH_MAX], machine[16384];

	snprintf(path, sizeof(path), "%s/topology.xml", state_dir);
	if (lent && access(path, R_OK) == 0)
		return topology_load_own(path, out, err);
	if (describe_machine(machine, sizeof(machine), err) < 0)
		return -1;
	if (load_kept(path, machine, out)) {
		if (!keep || lent || sysview_keep_machine(false, err) == 0)
			return 0;
		hwloc_topology_destroy(*out);
		return -1;
	}
	if (topology_load_live(out, err) < 0)
		return -1;
	if (!keep || lent ||
	    (sysview_keep_machine(true, err) == 0 && keep_topology(*out, machine, path, err) == 0))
		return 0;
	hwloc_topology_destroy(*out);
	return -1;
}

static bool has_subtype(hwloc_obj_t node)
{
	/* hwloc has these names from the firmware's tables or from the processor's model. */
	return node->subtype &&
	       (strcmp(node->subtype, "MCDRAM") == 0 || strcmp(node->subtype, "HBM") == 0 ||
		strcmp(node->subtype, "GPUMemory") == 0 || strcmp(node->subtype, "SPM") == 0);
}

bool topology_node_is_special(hwloc_topology_t topology, hwloc_obj_t node)
{
	hwloc_obj_t other = NULL;

	if (!has_subtype(node))
		return false;
	/* Where all memory is high-bandwidth memory (A64FX, some Xeon Max), it is ordinary. */
	while ((other = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, other))) {
		if (!has_subtype(other))
			return true;
	}
	return false;
}

int topology_node_of_cpu(hwloc_topology_t topology, unsigned cpu)
{
	hwloc_obj_t node = NULL, found = NULL;
	bool special, found_special = false;

	if (!hwloc_get_pu_obj_by_os_index(topology, cpu))
		return -1;
	while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node))) {
		if (!hwloc_bitmap_isset(node->cpuset, cpu))
			continue;
		special = topology_node_is_special(topology, node);
		if (found && (special > found_special ||
			      (special == found_special && node->os_index > found->os_index)))
			continue;
		found = node;
		found_special = special;
	}
	return found ? (int)found->os_index : -1;
}

/* Chooses the system nodes when SystemNodes= does not name them. */
static void default_system_nodes(hwloc_topology_t topology, hwloc_const_bitmap_t os_cpus,
				 hwloc_bitmap_t nodes)
{
	int n_ordinary = 0, cpu, first = -1, number;
	hwloc_obj_t node = NULL;

	hwloc_bitmap_zero(nodes);
	while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)))
		n_ordinary += !topology_node_is_special(topology, node) &&
			      node->attr->numanode.local_memory;
	if (n_ordinary < 2)
		return;
	hwloc_bitmap_foreach_begin(cpu, os_cpus) {
		number = topology_node_of_cpu(topology, cpu);
		if (number < 0)
			continue;
		hwloc_bitmap_set(nodes, number);
		if (first < 0)
			first = number;
	}
	hwloc_bitmap_foreach_end();
	if (hwloc_bitmap_weight(nodes) >= n_ordinary)
		hwloc_bitmap_only(nodes, first);
}

int topology_system_nodes(hwloc_topology_t topology, const struct ms_config *config,
			  hwloc_bitmap_t nodes, struct ms_error *err)
{
	hwloc_const_bitmap_t machine = hwloc_topology_get_topology_nodeset(topology);
	char wanted[256], found[256];

	if (!config->system_nodes) {
		default_system_nodes(topology, config->os_cpus, nodes);
		return 0;
	}
	hwloc_bitmap_copy(nodes, config->system_nodes);
	if (hwloc_bitmap_isincluded(nodes, machine))
		return 0;
	hwloc_bitmap_list_snprintf(wanted, sizeof(wanted), nodes);
	hwloc_bitmap_list_snprintf(found, sizeof(found), machine);
	return ms_fail(err,
		       "lwk.conf keeps the NUMA nodes %s for the system (SystemNodes=); this "
		       "machine has only %s; the administrator's remedy is to name only those",
		       wanted, found);
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
	/* No distances are known. Nodes of the same CPUs (numa=fake=) are equally near. */
	return a == b || (from && to && hwloc_bitmap_intersects(from->cpuset, to->cpuset)) ? 10
											   : 20;
}
