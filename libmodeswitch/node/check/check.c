// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for what would break LWK jobs on this node before a job meets it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/files.h"
#include "config/image.h"
#include "driver/driver.h"
#include "interrupts/affinity.h"
#include "limits/limits.h"
#include "machine/memory.h"
#include "machine/topology.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/plan.h"
#include "node/check/check.h"
#include "store/state.h"

#define TOOL_MS 20000

void check_tell(struct checking *checking, int level, const char *subject, const char *to_do,
		const char *format, ...)
{
	char text[1500];
	struct ms_finding finding = {
		.level = level, .subject = subject, .text = text, .to_do = to_do
	};
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	checking->problems += level == MS_PROBLEM;
	checking->hear(&finding, checking->context);
}

static void check_config(struct checking *checking, const char *path)
{
	struct ms_error err;

	if (ms_config_load(path, &checking->config, &err) < 0)
		check_tell(checking, MS_PROBLEM, "config",
			   "correct it; lwk.conf(5) tells what it may say", "%s", err.text);
	else
		check_tell(checking, MS_FINE, "config", NULL, "%s is valid, with %zu image%s", path,
			   checking->config->n_images, checking->config->n_images == 1 ? "" : "s");
}

static void check_images(struct checking *checking)
{
	struct ms_error err;
	size_t size;
	void *data;

	for (size_t i = 0; checking->config && i < checking->config->n_images; i++) {
		const struct ms_image *image = &checking->config->images[i];

		if (image_read(image, &data, &size, &err) < 0) {
			check_tell(checking, MS_PROBLEM, "image",
				   "install it, or correct Path= in lwk.conf", "%s", err.text);
			continue;
		}
		free(data);
		check_tell(checking, MS_FINE, "image", NULL, "%s: %s, %zu KB", image->name,
			   image->path, size >> 10);
	}
}

static void check_module(struct checking *checking, const struct driver *driver)
{
	const char *const argv[] = { "/sbin/modprobe", "--dry-run", driver->module, NULL };
	char output[512], path[64];
	struct ms_error err;
	int dev, status;

	snprintf(path, sizeof(path), "/sys/module/%s", driver->module);
	dev = driver->open(&err);
	if (dev >= 0) {
		driver->close(dev);
		check_tell(checking, MS_FINE, "module", NULL, "%s is loaded", driver->module);
		return;
	}
	if (dev == -EACCES && access(path, F_OK) == 0) {
		check_tell(checking, MS_NOTE, "module",
			   "run 'lwkctl check' as root to see whether it is the "
			   "right one",
			   "%s is loaded", driver->module);
		return;
	}
	if (dev != -ENOENT) {
		check_tell(checking, MS_PROBLEM, "module", "see the end of 'dmesg'", "%s",
			   err.text);
		return;
	}
	status = child_run(argv, clock_ms() + TOOL_MS, output, sizeof(output));
	if (status == 0)
		check_tell(checking, MS_FINE, "module", NULL,
			   "%s is found; the first LWK job loads it", driver->module);
	else
		check_tell(checking, MS_PROBLEM, "module",
			   "install it for the kernel that runs ('uname -r') and run depmod",
			   "%s cannot be loaded: %s", driver->module,
			   status < 0 ? strerror(-status) : output);
}

static void check_limits(struct checking *checking)
{
	bool required = checking->config && checking->config->proxy_limits_required;
	struct ms_error err;
	char missing[64];

	if (limits_look(missing, sizeof(missing), &err) < 0)
		check_tell(checking, MS_PROBLEM, "limits", "see whether /proc/mounts can be read",
			   "%s", err.text);
	else if (*missing)
		check_tell(checking, required ? MS_PROBLEM : MS_NOTE, "limits",
			   "mount these controllers (cgroup version 1), or boot without "
			   "cgroup_disable= (version 2)",
			   "this node lacks %s, cgroup controllers; %s", missing,
			   required ? "ProxyLimits=require wants them for every LWK job"
				    : "proxies are not limited in that");
	else
		check_tell(checking, MS_FINE, "limits", NULL,
			   "there are cgroup controllers for the proxies' limits (version %d)",
			   limits_version_2() ? 2 : 1);
}

/* Those of CPUs that jobs may have. */
static void check_interrupts(struct checking *checking)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc_full();
	char names[512];

	if (cpus && checking->config) {
		hwloc_bitmap_andnot(cpus, cpus, checking->config->os_cpus);
		interrupts_managed(cpus, names, sizeof(names));
		if (*names)
			check_tell(
				checking, MS_NOTE, "interrupts",
				"nothing need be done: they leave with the LWK's CPUs; to have "
				"them on OS CPUs only, give the device fewer queues (its driver's "
				"or the hypervisor's option), or boot with isolcpus=managed_irq,LIST",
				"the kernel itself places these and nobody can move them: %s",
				names);
		else
			check_tell(checking, MS_FINE, "interrupts", NULL,
				   "every interrupt can be moved to OS CPUs");
	}
	hwloc_bitmap_free(cpus);
}

static void check_jobs(struct checking *checking)
{
	struct ms_job *jobs;
	struct ms_error err;
	int stuck = 0;
	size_t n;

	if (ms_job_list(&jobs, &n, &err) < 0) {
		check_tell(checking, MS_PROBLEM, "jobs", "run 'lwkctl reset'", "%s", err.text);
		return;
	}
	if (ms_warm_left() == 0)
		check_tell(checking, MS_PROBLEM, "warm",
			   "run 'lwkctl cool'; the next job to start does it too",
			   "CPUs and memory are kept warm for longer than KeepWarm= says");
	for (size_t i = 0; i < n; i++) {
		if (jobs[i].state == MS_JOB_STUCK && ++stuck)
			check_tell(checking, MS_PROBLEM, "jobs",
				   "run 'lwkctl reset JOB'; a job that is over "
				   "must leave nothing",
				   "job %u is stuck: %s", jobs[i].job_id, jobs[i].reason);
	}
	ms_job_list_free(jobs, n);
	if (!stuck)
		check_tell(checking, MS_FINE, "jobs", NULL, "%zu known, none stuck", n);
}

/* A journal of a switch that nobody is doing, and whose record says that somebody is. */
static void check_journals(struct checking *checking)
{
	struct ms_error ignored;
	uint32_t *ids;
	ssize_t n = state_jobs(".journal", &ids, &ignored);
	char path[4096];
	int fd, stale = 0;

	snprintf(path, sizeof(path), "%s/lock", state_dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
		for (ssize_t i = 0; i < n; i++) {
			struct ms_job job = { .state = MS_JOB_SWITCHING };
			int got = ms_job_get(ids[i], &job, &ignored);

			if (job.state == MS_JOB_SWITCHING || job.state == MS_JOB_REFUSED) {
				stale++;
				check_tell(checking, MS_PROBLEM, "journals",
					   "run 'lwkctl reset JOB'",
					   "a switch for job %u was broken off and not undone",
					   ids[i]);
			}
			if (got == 1)
				ms_job_release(&job);
		}
	}
	if (fd >= 0)
		close(fd);
	free(ids);
	if (!stale)
		check_tell(checking, MS_FINE, "journals", NULL, "none is stale");
}

/* None when nobody can tell, or when there are none. */
static hwloc_bitmap_t find_system_nodes(struct checking *checking)
{
	hwloc_bitmap_t system = hwloc_bitmap_alloc();
	hwloc_topology_t topology;
	struct ms_error err;

	if (!checking->config || topology_load_node(true, false, &topology, &err) < 0)
		return system;
	if (topology_system_nodes(topology, checking->config, system, &err) < 0) {
		check_tell(checking, MS_PROBLEM, "memory", "correct SystemNodes= in lwk.conf", "%s",
			   err.text);
		hwloc_bitmap_zero(system);
	}
	hwloc_topology_destroy(topology);
	return system;
}

static void check_node_memory(struct checking *checking, unsigned node, bool is_system, bool alone)
{
	uint64_t bytes = memory_block_bytes();
	size_t movable = 0, offline = 0, n;
	struct memory_block *blocks;

	n = memory_blocks(node, &blocks);
	for (size_t i = 0; i < n; i++) {
		movable += blocks[i].movable;
		offline += !blocks[i].online;
	}
	free(blocks);
	if (is_system) {
		check_tell(checking, MS_FINE, "memory", NULL, "NUMA node %u is kept for the system",
			   node);
		return;
	}
	/* All of it may be lent. */
	check_tell(
		checking, movable || offline ? MS_FINE : MS_NOTE, "memory",
		movable || offline ? NULL
		: alone ? "divide this machine: boot with numa=fake=N, then run 'lwkctl prepare' early "
			  "at boot; or boot with movablecore="
			: "run 'lwkctl prepare' early at boot: systemctl enable "
			  "slurm-lwk-prepare.service",
		"NUMA node %u: %zu of %zu memory blocks (of %ju MB) are movable, %zu are off-line%s",
		node, movable, n, (uintmax_t)(bytes >> 20), offline,
		movable || offline
			? ""
			: "; it is not prepared: large contiguous memory gets scarce as it is used");
}

static void check_memory(struct checking *checking)
{
	hwloc_bitmap_t nodes = hwloc_bitmap_alloc(), system;
	uint64_t bytes = memory_block_bytes();
	unsigned node;

	if (!bytes || kernel_read_list(nodes, "/sys/devices/system/node/online") < 0) {
		check_tell(checking, MS_NOTE, "memory",
			   "use a kernel with CONFIG_MEMORY_HOTREMOVE for larger contiguous memory",
			   "this kernel has no memory blocks that can go off-line");
		hwloc_bitmap_free(nodes);
		return;
	}
	system = find_system_nodes(checking);
	hwloc_bitmap_foreach_begin(node, nodes) {
		check_node_memory(checking, node, hwloc_bitmap_isset(system, node),
				  hwloc_bitmap_iszero(system));
	}
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_free(system);
	hwloc_bitmap_free(nodes);
}

/* What lwk.conf says about NUMA nodes must be true of this machine. */
static void check_numa(struct checking *checking)
{
	static const char to_do[] =
		"correct SystemNodes= and Numa= in lwk.conf; 'numactl -H' tells "
		"which NUMA nodes there are";
	const struct ms_config *config = checking->config;
	hwloc_topology_t topology;
	struct ms_error err;
	hwloc_bitmap_t nodes;
	char list[256];

	if (!config)
		return;
	if (ms_topology_load(NULL, &topology, &err) < 0) {
		check_tell(checking, MS_PROBLEM, "numa", "look after hwloc", "%s", err.text);
		return;
	}
	nodes = hwloc_bitmap_alloc();
	if (topology_system_nodes(topology, config, nodes, &err) < 0) {
		check_tell(checking, MS_PROBLEM, "numa", to_do, "%s", err.text);
	} else if (config->numa.nodes &&
		   !hwloc_bitmap_isincluded(config->numa.nodes,
					    hwloc_topology_get_topology_nodeset(topology))) {
		hwloc_bitmap_list_snprintf(list, sizeof(list), config->numa.nodes);
		check_tell(checking, MS_PROBLEM, "numa", to_do,
			   "Numa=bind=%s names NUMA nodes that this machine has not", list);
	} else {
		hwloc_bitmap_list_snprintf(list, sizeof(list), nodes);
		check_tell(checking, MS_FINE, "numa", NULL, "NUMA nodes kept for the system: %s",
			   *list ? list : "none");
	}
	hwloc_bitmap_free(nodes);
	hwloc_topology_destroy(topology);
}

int ms_check(const char *config_path, void (*hear)(const struct ms_finding *, void *context),
	     void *context)
{
	struct checking checking = { .hear = hear, .context = context };

	check_ask_slurm(&checking);
	check_config(&checking, config_path);
	check_images(&checking);
	for (size_t i = 0; driver_number(i); i++)
		check_module(&checking, driver_number(i));
	check_slurm(&checking);
	check_memory(&checking);
	check_numa(&checking);
	check_limits(&checking);
	check_interrupts(&checking);
	check_jobs(&checking);
	check_journals(&checking);
	ms_config_free(checking.config);
	free(checking.slurm);
	free(checking.node);
	free(checking.partitions);
	return checking.problems;
}
