// SPDX-License-Identifier: GPL-2.0-or-later
#include "node/prepare/services.h"

#include <limits.h>
#include <stdlib.h>

#include "base/cgroup.h"
#include "node/prepare/cpuset.h"
#include "node/prepare/systemd.h"

static const char *keep(const char *cpus, const char *nodes, bool dry_run, unsigned *changed,
			struct ms_error *err)
{
	char path[PATH_MAX];
	const char *base = NULL;

	if (!has_systemd() || !cgroup2_is_used())
		base = cpusets_base(path, sizeof(path));
	if (!has_systemd() && !base) {
		ms_fail(err, "there is neither systemd nor a hierarchy of cpusets; start the "
			     "services under numactl(8)");
		return NULL;
	}
	if (!dry_run && has_systemd() && keep_by_systemd(cpus, nodes, changed, err) < 0)
		return NULL;
	if (!dry_run && base && keep_by_cpuset(base, cpus, nodes, changed, err) < 0)
		return NULL;
	if (!has_systemd())
		return "a cpuset; it has what runs now, and what that starts";
	if (!cgroup2_is_used())
		return "systemd, for services that start from now on; a cpuset, for what runs now";
	return "systemd, all services but slurmd";
}

const char *services_keep(hwloc_const_bitmap_t cpus, hwloc_const_bitmap_t nodes, bool dry_run,
			  unsigned *changed, struct ms_error *err)
{
	char *cpu_list = NULL, *node_list = NULL;
	const char *how = NULL;

	*changed = 0;
	if (hwloc_bitmap_list_asprintf(&cpu_list, cpus) < 0 ||
	    hwloc_bitmap_list_asprintf(&node_list, nodes) < 0)
		ms_fail(err, "out of memory");
	else
		how = keep(cpu_list, node_list, dry_run, changed, err);
	free(cpu_list);
	free(node_list);
	return how;
}

int services_release(struct ms_error *err)
{
	int ret = release_cpuset(err);

	return release_systemd(err) < 0 ? -1 : ret;
}
