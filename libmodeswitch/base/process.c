// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/process.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"

uint64_t process_started(pid_t pid)
{
	uint64_t ticks = 0;
	char text[2048], state = 'X';
	const char *rest;

	if (kernel_read(text, sizeof(text), "/proc/%d/stat", pid) < 0)
		return 0;
	/* The program's name ends at the last parenthesis; it can contain anything. */
	rest = strrchr(text, ')');
	if (rest)
		sscanf(rest + 1,
		       " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
		       "%*d %" SCNu64,
		       &state, &ticks);
	return state == 'Z' || state == 'X' ? 0 : ticks;
}

bool process_runs_as(pid_t pid, uid_t uid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return stat(path, &st) == 0 && st.st_uid == uid;
}

void process_go_to(hwloc_const_bitmap_t cpus)
{
	cpu_set_t set;
	int cpu;

	CPU_ZERO(&set);
	hwloc_bitmap_foreach_begin(cpu, cpus) {
		if (cpu < CPU_SETSIZE)
			CPU_SET(cpu, &set);
	}
	hwloc_bitmap_foreach_end();
	sched_setaffinity(0, sizeof(set), &set);
}
