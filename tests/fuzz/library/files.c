// SPDX-License-Identifier: GPL-2.0-or-later
#include "library/files.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "fuzz.h"
#include "store/state.h"

static char directory[] = "/dev/shm/slurm-lwk-fuzz.XXXXXX";

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	return remove(path);
}

static void remove_directory(void)
{
	nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *files_directory(void)
{
	static bool made;

	if (!made) {
		must(mkdtemp(directory));
		chmod(directory, 0755);
		files_root = state_dir = directory;
		atexit(remove_directory);
		made = true;
	}
	return directory;
}

void files_put(const char *name, const void *data, size_t size)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", files_directory(), name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	for (char *at = path + sizeof(directory); fd < 0 && (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(path, 0755);
		*at = '/';
	}
	if (fd < 0)
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}
