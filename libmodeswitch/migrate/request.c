// SPDX-License-Identifier: GPL-2.0-or-later
#include "migrate/request.h"

#include <errno.h>
#include <numaif.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files.h"
#include "migrate/base/context.h"
#include "migrate/base/throttle.h"

#define MAX_NODES 1024
#define DEFAULT_PAGES 5000
#define DEFAULT_SLEEP_MS 100
#define DEFAULT_CPU_PERCENT 10
/* Pages of 4 KB in the first call; rounds.c adapts the number to the time that calls take. */
#define FIRST_SLICE 512U
/* The window of use when the request gives no sleep. */
#define USE_WINDOW_MS 250U

static int check_nodes(hwloc_const_bitmap_t nodes, const char *option, struct ms_error *err)
{
	hwloc_bitmap_t there = hwloc_bitmap_alloc();
	char *asked = NULL, *found = NULL;
	int ret = 0;

	if (!nodes || hwloc_bitmap_iszero(nodes)) {
		hwloc_bitmap_free(there);
		return ms_fail(err, "expected NUMA nodes with %s, found none", option);
	}
	if (!there || kernel_read_list(there, "/sys/devices/system/node/has_memory") < 0)
		ret = ms_fail(err, "expected the NUMA nodes that have memory, found no "
				   "/sys/devices/system/node/has_memory; this kernel has no NUMA");
	else if (!hwloc_bitmap_isincluded(nodes, there) || hwloc_bitmap_last(nodes) >= MAX_NODES) {
		hwloc_bitmap_list_asprintf(&asked, nodes);
		hwloc_bitmap_list_asprintf(&found, there);
		ret = ms_fail(err,
			      "expected NUMA nodes with memory on-line, found %s %s, and memory on "
			      "nodes %s only; choose among these",
			      option, asked, found);
	}
	free(asked);
	free(found);
	hwloc_bitmap_free(there);
	return ret;
}

static int check_throttling(const struct ms_migrate_request *request, struct ms_error *err)
{
	uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES);

	if (request->pages && (request->pages < MS_MIGRATE_MIN_PAGES || request->pages > machine))
		return ms_fail(err, "expected from %u to %ju pages at a time, found %u",
			       MS_MIGRATE_MIN_PAGES, (uintmax_t)machine, request->pages);
	if (request->sleep_ms < -1 || request->sleep_ms > MS_MIGRATE_MAX_SLEEP_MS)
		return ms_fail(err, "expected a sleep of 0 to %d ms, found %d",
			       MS_MIGRATE_MAX_SLEEP_MS, request->sleep_ms);
	/* NaN fails this condition, too. */
	if (!(request->cpu_percent >= 0 && request->cpu_percent <= 100))
		return ms_fail(
			err,
			"expected a CPU limit above 0 and up to 100 percent of one CPU, which "
			"is all that the migrator can use, found %g",
			request->cpu_percent);
	return 0;
}

static int check_target(const struct ms_migrate_request *request, struct ms_error *err)
{
	if (request->pid < 0 || !request->pid + !request->job_id + !request->cgroup != 2)
		return ms_fail(err, "expected one of: a process, a job, a cgroup, found none or "
				    "several");
	/* Without pages the call only checks permission, and whether the process exists. */
	if (request->pid && move_pages(request->pid, 0, NULL, NULL, NULL, 0) < 0) {
		if (errno == EPERM || errno == EACCES)
			return ms_fail(err,
				       "expected a process of this user, found that process %d is "
				       "another's; run it as root",
				       request->pid);
		return ms_fail(err,
			       "expected a process with memory of its own, found none with PID %d "
			       "(%m); look for it with ps(1)",
			       request->pid);
	}
	return 0;
}

int request_check(const struct migration *migration, struct ms_error *err)
{
	const struct ms_migrate_request *request = migration->request;

	if (check_nodes(request->from, "--from", err) < 0 ||
	    check_nodes(request->to, "--to", err) < 0)
		return -1;
	if (hwloc_bitmap_intersects(request->from, request->to))
		return ms_fail(err, "expected --from and --to without a common node, found one; "
				    "name only the nodes to be left with --from");
	if (request->method >= MS_MIGRATE_METHODS)
		return ms_fail(err, "expected a method, found number %d", request->method);
	if (check_throttling(request, err) < 0)
		return -1;
	return migration->every_process || migration->selections ? 0 : check_target(request, err);
}

int request_choose_settings(struct migration *migration, struct ms_migrate_request *request,
			    struct ms_error *err)
{
	bool limited = request->cpu_percent > 0 || request->bandwidth;
	unsigned node;

	if (request->method == MS_ADAPTIVE && !limited && !request->pages &&
	    request->sleep_ms < 0) {
		request->cpu_percent = DEFAULT_CPU_PERCENT;
		limited = true;
	}
	if (request->sleep_ms < 0)
		request->sleep_ms = limited ? 0 : DEFAULT_SLEEP_MS;
	migration->n = request->pages ? request->pages : DEFAULT_PAGES;
	migration->slice = limited ? MS_MIGRATE_MIN_PAGES : FIRST_SLICE;
	migration->to = calloc(hwloc_bitmap_weight(request->to), sizeof(*migration->to));
	if (!migration->to)
		return ms_fail(err, "out of memory");
	hwloc_bitmap_foreach_begin(node, request->to)
		migration->to[migration->n_to++] = node;
	hwloc_bitmap_foreach_end();
	throttle_init(&migration->throttle, request);
	return 0;
}

unsigned request_use_window_ms(const struct ms_migrate_request *request)
{
	unsigned window = request->sleep_ms / 8;

	/* With limits there is no sleep to go by, and everything takes long. */
	if (request->cpu_percent > 0 || request->bandwidth)
		return USE_WINDOW_MS;
	window = window < USE_WINDOW_MS ? window : USE_WINDOW_MS;
	return window > MIN_USE_WINDOW_MS ? window : MIN_USE_WINDOW_MS;
}
