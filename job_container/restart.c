// SPDX-License-Identifier: GPL-2.0-or-later
#include "restart.h"

#include <errno.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "modeswitch/job.h"

#define MAX_ARGUMENTS 64

/* Reads this process's arguments, which stay allocated for the exec. 0 or -1. */
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

void restart_with_whole_machine(void)
{
	static const char kept[] = MS_STATE_DIR "/topology.xml";
	char *argv[MAX_ARGUMENTS];

	if (getenv("HWLOC_XMLFILE"))
		return;
	if (access(kept, R_OK) == 0 && read_arguments(argv) == 0) {
		slurm_info("lwk: CPUs of this node are lent: starting slurmd again with %s", kept);
		/* With HWLOC_THISSYSTEM hwloc would look at slurmd's own cpuset again. */
		setenv("HWLOC_XMLFILE", kept, 1);
		execv("/proc/self/exe", argv);
	}
	slurm_error("lwk: cannot start slurmd again with the topology in %s (%s): slurmd sees only "
		    "the CPUs that are not lent and gives jobs wrong ones; restart it when no LWK "
		    "job runs on this node",
		    kept, strerror(errno));
}
