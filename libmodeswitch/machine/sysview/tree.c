// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/sysview/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/state.h"

static int failed(const struct tree *tree, const char *name)
{
	return ms_fail(tree->err, "%s/%s/%s: %m", state_dir, tree->name, name);
}

int make_dir(const struct tree *tree, const char *format, ...)
{
	char name[128];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	if (mkdirat(tree->dir, name, 0755) < 0 || fchmodat(tree->dir, name, 0755, 0) < 0)
		return failed(tree, name);
	return 0;
}

int make_link(const struct tree *tree, const char *to, const char *format, ...)
{
	char name[128];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	return symlinkat(to, tree->dir, name) < 0 ? failed(tree, name) : 0;
}

int make_file(const struct tree *tree, const char *text, const char *format, ...)
{
	size_t length = strlen(text);
	char name[128];
	va_list args;
	int fd, ret = 0;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	fd = openat(tree->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
	if (fd < 0 || fchmod(fd, 0444) < 0 || write(fd, text, length) != (ssize_t)length)
		ret = failed(tree, name);
	if (fd >= 0)
		close(fd);
	return ret;
}

static char *format_list(hwloc_const_bitmap_t set)
{
	char *list = NULL, *line = NULL;

	if (hwloc_bitmap_list_asprintf(&list, set) < 0 || asprintf(&line, "%s\n", list) < 0)
		line = NULL;
	free(list);
	return line;
}

/* Formats a mask as the kernel does: a comma between words of 32 bits. */
static char *format_mask(hwloc_const_bitmap_t set)
{
	int words = hwloc_bitmap_last(set) < 0 ? 1 : hwloc_bitmap_last(set) / 32 + 1;
	char *text = malloc(9 * words + 1);

	for (int i = 0; text && i < words; i++) {
		int word = words - 1 - i;
		unsigned long bits = hwloc_bitmap_to_ith_ulong(set, word / 2);

		snprintf(text + 9 * i, 10, "%08lx%c", bits >> (word % 2 * 32) & 0xffffffffUL,
			 word ? ',' : '\n');
	}
	return text;
}

int make_sets(const struct tree *tree, hwloc_const_bitmap_t set, const char *dir,
	      const char *mask_name, const char *list_name)
{
	char *mask = mask_name ? format_mask(set) : NULL;
	char *list = list_name ? format_list(set) : NULL;
	int ret = 0;

	if ((mask_name && !mask) || (list_name && !list))
		ret = ms_fail(tree->err, "out of memory");
	if (ret == 0 && mask)
		ret = make_file(tree, mask, "%s/%s", dir, mask_name);
	if (ret == 0 && list)
		ret = make_file(tree, list, "%s/%s", dir, list_name);
	free(mask);
	free(list);
	return ret;
}

int make_cpuinfo(const struct tree *tree, const char *from, hwloc_const_bitmap_t cpus)
{
	FILE *in = fopen(from, "re"), *out;
	bool wanted = !cpus;
	char *line = NULL;
	size_t size = 0;
	unsigned cpu;
	int fd, ret = 0;

	if (!in)
		return errno == ENOENT ? 0 : ms_fail(tree->err, "%s: %m", from);
	fd = openat(tree->dir, "cpuinfo", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0444);
	out = fd < 0 || fchmod(fd, 0444) < 0 ? NULL : fdopen(fd, "w");
	while (out && getline(&line, &size, in) > 0) {
		if (cpus && sscanf(line, "processor : %u", &cpu) == 1)
			wanted = hwloc_bitmap_isset(cpus, cpu);
		if (wanted)
			fputs(line, out);
	}
	free(line);
	fclose(in);
	if (!out || ferror(out))
		ret = failed(tree, "cpuinfo");
	if (out ? fclose(out) && ret == 0 : fd >= 0 && close(fd) < 0)
		ret = failed(tree, "cpuinfo");
	return ret;
}

int open_tree(struct tree *tree, int parent, const char *parent_name, const char *name,
	      struct ms_error *err)
{
	snprintf(tree->name, sizeof(tree->name), "%s%s", parent_name, name);
	tree->err = err;
	tree->dir = -1;
	if (mkdirat(parent, name, 0755) == 0 && fchmodat(parent, name, 0755, 0) == 0)
		tree->dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tree->dir < 0)
		return ms_fail(err, "%s/%s: %m", state_dir, tree->name);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	return remove(path) < 0 && errno != ENOENT ? errno : 0;
}

int remove_tree(const char *name, struct ms_error *err)
{
	char path[PATH_MAX];
	int error;

	snprintf(path, sizeof(path), "%s/%s", state_dir, name);
	error = nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (error < 0)
		error = errno == ENOENT ? 0 : errno;
	return error ? ms_fail(err, "%s: cannot be removed: %s", path, strerror(error)) : 0;
}
