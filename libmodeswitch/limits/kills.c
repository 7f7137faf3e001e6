// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts the proxies of a job that were killed because they exceeded their limit of memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/files.h"
#include "limits/cgroup_v1.h"
#include "limits/cgroup_v2.h"
#include "limits/limits.h"
#include "modeswitch/job.h"
#include "modeswitch/limits.h"

#define TEXT_SIZE 4096

/* The number after a name at the beginning of a line. */
static uint64_t event_count(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) == 0 && line[length] == ' ')
			return strtoull(line + length, NULL, 10);
	}
	return 0;
}

uint64_t ms_limits_kills(const struct ms_job *job, pid_t pid)
{
	char text[TEXT_SIZE] = "", *path;

	if (!job->proxies.memory)
		return 0;
	if (cgroup2_is_used()) {
		if (cgroup_v2_read(job->job_id, pid, "memory.events", text, sizeof(text)) < 0)
			return 0;
		/* "oom" is not 0 only in the cgroup whose limit was exceeded, not below it. */
		return event_count(text, "oom") ? event_count(text, "oom_kill") : 0;
	}
	path = cgroup_v1_path(job->job_id, "memory", "memory.oom_control");
	if (path)
		kernel_read(text, sizeof(text), "%s", path);
	free(path);
	return event_count(text, "oom_kill");
}
