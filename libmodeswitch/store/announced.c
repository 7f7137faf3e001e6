// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files jobs/ID.begun: a prolog announces its switch before it waits for anything, and the end of the job
 * takes that back. A prolog whose slurmd has died goes on, and would switch a node whose job is over.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "modeswitch/job.h"
#include "store/state.h"

int ms_switch_announce(uint32_t job_id, int64_t *when, struct ms_error *err)
{
	char name[32], text[32];

	*when = clock_ms();
	snprintf(name, sizeof(name), "%u.begun", job_id);
	snprintf(text, sizeof(text), "%" PRId64 "\n", *when);
	return state_replace_file(name, text, 0600, err);
}

int64_t ms_switch_announced(uint32_t job_id)
{
	int dir = state_open_jobs_readonly(), fd;
	char name[32], text[32];
	ssize_t length;

	if (dir < 0)
		return -1;
	snprintf(name, sizeof(name), "%u.begun", job_id);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	close(dir);
	if (fd < 0)
		return -1;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	return strtoll(text, NULL, 10);
}
