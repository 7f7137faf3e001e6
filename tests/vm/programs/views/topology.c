/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology: prints what hwloc finds, what it says that this process may use, and the CPUs that it says
 * it is bound to and runs on when hwloc has bound it to each.
 */
#include <err.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>

static void print_set(const char *name, hwloc_const_bitmap_t set)
{
	char *list;

	if (hwloc_bitmap_list_asprintf(&list, set) < 0)
		errx(1, "out of memory");
	printf("%s %s\n", name, list);
	free(list);
}

/* Binds this process to each CPU, one after the other; returns those where that is seen. */
static hwloc_bitmap_t bind(hwloc_topology_t topology)
{
	hwloc_bitmap_t seen = hwloc_bitmap_alloc(), at = hwloc_bitmap_alloc();
	hwloc_obj_t cpu = NULL;

	while ((cpu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, cpu)))
		if (hwloc_set_cpubind(topology, cpu->cpuset, HWLOC_CPUBIND_THREAD) == 0 &&
		    hwloc_get_cpubind(topology, at, HWLOC_CPUBIND_THREAD) == 0 &&
		    hwloc_bitmap_isequal(at, cpu->cpuset) &&
		    hwloc_get_last_cpu_location(topology, at, HWLOC_CPUBIND_THREAD) == 0 &&
		    hwloc_bitmap_isequal(at, cpu->cpuset))
			hwloc_bitmap_or(seen, seen, at);
	hwloc_bitmap_free(at);
	return seen;
}

int main(void)
{
	hwloc_topology_t topology;
	hwloc_obj_t node = NULL;
	hwloc_bitmap_t bound;

	if (hwloc_topology_init(&topology) < 0 ||
	    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL) < 0 ||
	    hwloc_topology_load(topology) < 0)
		err(1, "hwloc");
	print_set("cpus", hwloc_topology_get_topology_cpuset(topology));
	print_set("allowed", hwloc_topology_get_allowed_cpuset(topology));
	print_set("nodes", hwloc_topology_get_topology_nodeset(topology));
	print_set("allowed", hwloc_topology_get_allowed_nodeset(topology));
	printf("cores %d\n", hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE));
	printf("packages %d\n", hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE));
	printf("L3 caches %d\n", hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_L3CACHE));
	while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node))) {
		printf("node %u: %ju kB, ", node->os_index,
		       (uintmax_t)node->attr->numanode.local_memory / 1024);
		print_set("cpus", node->cpuset);
	}
	bound = bind(topology);
	print_set("bound", bound);
	hwloc_bitmap_free(bound);
	hwloc_topology_destroy(topology);
	return 0;
}
