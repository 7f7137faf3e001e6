// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/fault.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/state.h"

#define LOOK_US 10000

static void path_of(const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", state_dir, name);
}

/* Reads the order, whose last word goes to 'what'. False: there is none for this moment. */
static bool is_ordered(const char *direction, const char *step, const char *when, char what[8])
{
	char path[PATH_MAX], text[96] = "", wanted[64];
	struct stat st;
	int fd, length;

	path_of(FAULT_FILE, path);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)) || read(fd, text, sizeof(text) - 1) < 0)
		*text = '\0';
	close(fd);
	length = snprintf(wanted, sizeof(wanted), "%s %s %s ", direction, step, when);
	return length < (int)sizeof(wanted) && strncmp(text, wanted, length) == 0 &&
	       sscanf(text + length, "%7s", what) == 1;
}

static void hold(const char *met)
{
	while (access(met, F_OK) == 0)
		usleep(LOOK_US);
}

int fault_at(const char *direction, const char *step, const char *when, struct ms_error *err)
{
	char path[PATH_MAX], met[PATH_MAX], what[8];

	if (!is_ordered(direction, step, when, what))
		return 0;
	path_of(FAULT_FILE, path);
	path_of(FAULT_MET_FILE, met);
	if (rename(path, met) < 0)
		return 0;
	if (strcmp(what, "kill") == 0)
		kill(getpid(), SIGKILL);
	else if (strcmp(what, "hold") == 0)
		hold(met);
	else if (strcmp(what, "fail") == 0)
		return ms_fail(err, "root ordered a fault %s the step \"%s\", switching %s", when,
			       step, direction);
	return 0;
}

bool fault_forget(void)
{
	static const char *const names[] = { FAULT_FILE, FAULT_MET_FILE };
	char path[PATH_MAX];
	bool found = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		path_of(names[i], path);
		found |= unlink(path) == 0;
	}
	return found;
}
