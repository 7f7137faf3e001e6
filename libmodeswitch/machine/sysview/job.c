// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes and removes the view of a job: the CPUs and NUMA nodes of its LWK.
 */
#include "machine/sysview/sysview.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files.h"
#include "machine/sysview/tree.h"
#include "store/state.h"

#define SUFFIX ".sys"
#define NODE_DIR "/sys/devices/system/node"

/* ---- an LWK's CPUs ---- */

static int make_cpu(const struct tree *tree, unsigned cpu)
{
	static const char *const names[] = { "online", "topology", "cache" };
	int ret = make_dir(tree, "cpu/cpu%u", cpu);
	char to[64];

	for (size_t i = 0; ret == 0 && i < sizeof(names) / sizeof(*names); i++) {
		snprintf(to, sizeof(to), "../../../../" MACHINE_TREE "/cpu%u/%s", cpu, names[i]);
		ret = make_link(tree, to, "cpu/cpu%u/%s", cpu, names[i]);
	}
	return ret;
}

static int make_cpus(const struct tree *tree, hwloc_const_bitmap_t cpus)
{
	char possible[32], path[PATH_MAX];
	int cpu, ret = make_dir(tree, "cpu");

	/*
	 * The list begins with 0, as on any Linux: programs take it for the number of possible
	 * CPUs.
	 */
	snprintf(possible, sizeof(possible), "0-%d\n", hwloc_bitmap_last(cpus));
	if (ret == 0)
		ret = make_file(tree, possible, "cpu/possible");
	if (ret == 0)
		ret = make_sets(tree, cpus, "cpu", NULL, "online");
	if (ret == 0)
		ret = make_link(tree, "online", "cpu/present");
	hwloc_bitmap_foreach_begin(cpu, cpus) {
		if (ret == 0)
			ret = make_cpu(tree, cpu);
	}
	hwloc_bitmap_foreach_end();
	snprintf(path, sizeof(path), "%s/" MACHINE_TREE "/cpuinfo", state_dir);
	return ret == 0 ? make_cpuinfo(tree, path, cpus) : ret;
}

/* ---- its NUMA nodes ---- */

/* Linux lists the distances to all nodes that are on-line, by their numbers. */
static int make_distances(const struct tree *tree, hwloc_const_bitmap_t nodes, unsigned node)
{
	char text[8192], out[8192], *at = text;
	hwloc_bitmap_t online = hwloc_bitmap_alloc();
	size_t length = 0;
	int other, ret = 0;

	if (!online)
		return ms_fail(tree->err, "out of memory");
	if (kernel_read(text, sizeof(text), NODE_DIR "/node%u/distance", node) < 0 ||
	    kernel_read_list(online, NODE_DIR "/online") < 0) {
		hwloc_bitmap_free(online);
		return 0;
	}
	hwloc_bitmap_foreach_begin(other, online) {
		unsigned long distance = strtoul(at, &at, 10);

		if (hwloc_bitmap_isset(nodes, other) && length < sizeof(out))
			length += snprintf(out + length, sizeof(out) - length, "%s%lu",
					   length ? " " : "", distance);
	}
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_free(online);
	if (length + 1 >= sizeof(out))
		return ms_fail(tree->err,
			       NODE_DIR "/node%u/distance: expected less than %zu characters, "
					"found more",
			       node, sizeof(out));
	out[length++] = '\n';
	out[length] = '\0';
	ret = make_file(tree, out, "node/node%u/distance", node);
	return ret;
}

static int make_node(const struct tree *tree, hwloc_const_bitmap_t nodes,
		     const struct sysview_node *node, unsigned number)
{
	char dir[32], to[64], text[64];
	int cpu, ret;

	snprintf(dir, sizeof(dir), "node/node%u", number);
	snprintf(text, sizeof(text), "Node %u MemTotal: %14" PRIu64 " kB\n", number,
		 node->bytes >> 10);
	ret = make_dir(tree, "%s", dir);
	if (ret == 0)
		ret = make_sets(tree, node->cpus, dir, "cpumap", "cpulist");
	if (ret == 0)
		ret = make_file(tree, text, "%s/meminfo", dir);
	if (ret == 0)
		ret = make_distances(tree, nodes, number);
	hwloc_bitmap_foreach_begin(cpu, node->cpus) {
		snprintf(to, sizeof(to), "../../cpu/cpu%d", cpu);
		if (ret == 0)
			ret = make_link(tree, to, "%s/cpu%d", dir, cpu);
		snprintf(to, sizeof(to), "../../%s", dir);
		if (ret == 0)
			ret = make_link(tree, to, "cpu/cpu%d/node%u", cpu, number);
	}
	hwloc_bitmap_foreach_end();
	return ret;
}

enum which { ALL, WITH_CPUS, WITH_MEMORY };

static int make_node_lists(const struct tree *tree, const struct sysview_node *nodes, unsigned n)
{
	static const struct {
		const char *name;
		enum which which;
	} lists[] = {
		{ "online", ALL },
		{ "possible", ALL },
		{ "has_cpu", WITH_CPUS },
		{ "has_memory", WITH_MEMORY },
		{ "has_normal_memory", WITH_MEMORY },
	};
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	int ret = set ? 0 : ms_fail(tree->err, "out of memory");

	for (size_t i = 0; ret == 0 && i < sizeof(lists) / sizeof(*lists); i++) {
		hwloc_bitmap_zero(set);
		for (unsigned node = 0; node < n; node++) {
			if (nodes[node].cpus &&
			    (lists[i].which == ALL ||
			     (lists[i].which == WITH_CPUS &&
			      !hwloc_bitmap_iszero(nodes[node].cpus)) ||
			     (lists[i].which == WITH_MEMORY && nodes[node].bytes)))
				hwloc_bitmap_set(set, node);
		}
		ret = make_sets(tree, set, "node", NULL, lists[i].name);
	}
	hwloc_bitmap_free(set);
	return ret;
}

static int make_nodes(const struct tree *tree, const struct sysview_node *nodes, unsigned n)
{
	hwloc_bitmap_t all = hwloc_bitmap_alloc();
	int ret = all ? make_dir(tree, "node") : ms_fail(tree->err, "out of memory");

	if (ret == 0)
		ret = make_node_lists(tree, nodes, n);
	for (unsigned node = 0; ret == 0 && node < n; node++)
		if (nodes[node].cpus)
			hwloc_bitmap_set(all, node);
	for (unsigned node = 0; ret == 0 && node < n; node++)
		if (nodes[node].cpus)
			ret = make_node(tree, all, &nodes[node], node);
	hwloc_bitmap_free(all);
	return ret;
}

int sysview_make(uint32_t job_id, hwloc_const_bitmap_t cpus, const struct sysview_node *nodes,
		 unsigned n, struct ms_error *err)
{
	struct tree tree;
	char name[32];
	int jobs, ret;

	if (sysview_remove(job_id, err) < 0)
		return -1;
	jobs = state_open_jobs(err);
	if (jobs < 0)
		return -1;
	snprintf(name, sizeof(name), "%u" SUFFIX, job_id);
	ret = open_tree(&tree, jobs, "jobs/", name, err);
	close(jobs);
	if (ret < 0)
		return -1;
	ret = make_cpus(&tree, cpus);
	if (ret == 0)
		ret = make_nodes(&tree, nodes, n);
	close(tree.dir);
	return ret;
}

int sysview_remove(uint32_t job_id, struct ms_error *err)
{
	char name[32];

	snprintf(name, sizeof(name), "jobs/%u" SUFFIX, job_id);
	return remove_tree(name, err);
}

int sysview_remove_all(struct ms_error *err)
{
	uint32_t *jobs;
	ssize_t n = state_jobs(SUFFIX, &jobs, err);
	int ret = n < 0 ? -1 : 0;

	for (ssize_t i = 0; i < n; i++)
		if (sysview_remove(jobs[i], err) < 0)
			ret = -1;
	free(jobs);
	return ret;
}
