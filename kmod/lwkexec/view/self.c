/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/view/self.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "abi/shared/calls.h"
#include "lwkexec/instance/copy.h"
#include "lwkexec/instance/session.h"
#include "lwkexec/view/lwk.h"
#include "lwkexec/view/maps.h"
#include "lwkexec/view/status.h"
#include "lwkexec/view/text_file.h"

static const char *program_path;
static char *const *program_arguments;

void self_init(const struct program *program)
{
	const char *slash = strrchr(program->exec_path, '/');

	program_path = program->path;
	program_arguments = program->argv;
	prctl(PR_SET_NAME, slash ? slash + 1 : program->exec_path);
}

/* The part of a path behind /proc/self/ or /proc/PID/ of the process, or NULL. */
static const char *below_self(const char *path)
{
	static const char *const names[] = { "/proc/self/", "/proc/thread-self/" };
	char mine[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(path, names[i], strlen(names[i])) == 0)
			return path + strlen(names[i]);
	snprintf(mine, sizeof(mine), "/proc/%d/", getpid());
	return strncmp(path, mine, strlen(mine)) == 0 ? path + strlen(mine) : NULL;
}

bool self_hides(const char *path)
{
	/* Linux's files of these names are about the proxy's memory, CPUs and limits. */
	static const char *const names[] = { "smaps", "mem", "pagemap", "cgroup", "cpuset" };
	const char *name = below_self(path);

	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void cmdline_print(FILE *out)
{
	for (char *const *argument = program_arguments; *argument; argument++)
		fwrite(*argument, strlen(*argument) + 1, 1, out);
}

/* 0 or a negative errno */
static int names_of_lwk(struct utsname *names)
{
	size_t n;

	if (uname(names))
		return -errno;
	n = strlen(names->release);
	snprintf(names->release + n, sizeof(names->release) - n, "+lwk");
	snprintf(names->version, sizeof(names->version), "%s", session.status->version);
	return 0;
}

static void release_print(FILE *out)
{
	struct utsname names;

	if (names_of_lwk(&names) == 0)
		fprintf(out, "%s\n", names.release);
}

static void version_print(FILE *out)
{
	fprintf(out, "%s\n", session.status->version);
}

bool self_open(const char *path, int flags, int64_t *result)
{
	const char *name = below_self(path);
	int fd;

	if (strcmp(path, "/proc/sys/kernel/osrelease") == 0) {
		*result = text_file_printed(release_print, flags);
		return true;
	}
	if (strcmp(path, "/proc/sys/kernel/version") == 0) {
		*result = text_file_printed(version_print, flags);
		return true;
	}
	if (!name)
		return false;
	if (strcmp(name, "status") == 0) {
		*result = text_file_printed(status_print, flags);
	} else if (strcmp(name, "lwk") == 0) {
		*result = text_file_printed(lwk_print, flags);
	} else if (strcmp(name, "maps") == 0) {
		*result = maps_known() ? text_file_printed(maps_print, flags) : LWK_RESULT_AREAS;
	} else if (strcmp(name, "cmdline") == 0) {
		*result = text_file_printed(cmdline_print, flags);
	} else if (strcmp(name, "statm") == 0) {
		*result = maps_known() ? text_file_printed(maps_print_sizes, flags)
				       : LWK_RESULT_AREAS;
	} else if (strcmp(name, "exe") == 0) {
		fd = open(program_path, flags & ~O_CREAT);
		*result = fd < 0 ? -errno : fd;
	} else {
		return false;
	}
	return true;
}

const char *self_exe(const char *path)
{
	const char *name = below_self(path);

	return name && strcmp(name, "exe") == 0 ? program_path : NULL;
}

bool self_readlink(const char *path, uint64_t buffer, uint64_t size, int64_t *result)
{
	size_t length = strlen(program_path);
	/* As on Linux, only the lower half counts. */
	int32_t room = size;
	int ends[2];

	if (!self_exe(path))
		return false;
	if (room <= 0) {
		*result = -EINVAL;
		return true;
	}
	/* Linux checks the pointer, because the path goes through a pipe. */
	if (length > (size_t)room)
		length = room;
	if (pipe2(ends, O_CLOEXEC)) {
		*result = -errno;
		return true;
	}
	*result = write(ends[1], program_path, length) == (ssize_t)length
			  ? read(ends[0], (void *)buffer, length)
			  : -1;
	if (*result < 0)
		*result = -errno;
	close(ends[0]);
	close(ends[1]);
	return true;
}

int64_t self_uname(uint64_t to)
{
	struct utsname names;
	int error = names_of_lwk(&names);

	return error ? error : copy_out(to, &names, sizeof(names));
}
