// SPDX-License-Identifier: GPL-2.0-or-later
#include "restart.h"

#include <errno.h>
#include <hwloc.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "modeswitch.h"

#define MAX_ARGUMENTS 64

/* This process's own arguments; they stay allocated for the exec. */
static int read_arguments(char *argv[MAX_ARGUMENTS])
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	size_t size;
	int argc = 0;

	if (!file)
		return -1;
	while (argc < MAX_ARGUMENTS - 1) {
		argv[argc] = NULL;
		size = 0;
		if (getdelim(&argv[argc], &size, '\0', file) <= 0)
			break;
		argc++;
	}
	argv[argc] = NULL;
	fclose(file);
	return argc > 0 ? 0 : -1;
}

/*
 * Writes the library's topology anew with every CPU allowed. What was written inside
 * Slurm's cpuset for system processes allows those of CpuSpecList only, and slurmd
 * would see no others after its next reconfiguration.
 */
static int write_topology(const char *from, const char *to)
{
	hwloc_topology_t topology;
	int ret = -1;

	if (hwloc_topology_init(&topology) < 0)
		return -1;
	if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
	    hwloc_topology_set_xml(topology, from) == 0 && hwloc_topology_load(topology) == 0 &&
	    hwloc_topology_allow(topology, NULL, NULL, HWLOC_ALLOW_FLAG_ALL) == 0)
		ret = hwloc_topology_export_xml(topology, to, 0);
	hwloc_topology_destroy(topology);
	return ret;
}

void restart_with_whole_machine(void)
{
	static const char kept[] = MS_STATE_DIR "/topology.xml";
	static const char whole[] = MS_STATE_DIR "/topology-slurmd.xml";
	char *argv[MAX_ARGUMENTS];

	if (getenv("HWLOC_XMLFILE"))
		return;
	if (write_topology(kept, whole) == 0 && read_arguments(argv) == 0) {
		slurm_info("lwk: CPUs of this node are lent: starting slurmd again with %s", whole);
		/* Not HWLOC_THISSYSTEM: hwloc would again look at slurmd's own cpuset. */
		setenv("HWLOC_XMLFILE", whole, 1);
		execv("/proc/self/exe", argv);
	}
	slurm_error("lwk: cannot start slurmd again with the topology in %s (%s). It sees only the "
		    "CPUs that are not lent and gives jobs wrong ones; restart it when no LWK job "
		    "runs on this node.",
		    kept, strerror(errno));
}
