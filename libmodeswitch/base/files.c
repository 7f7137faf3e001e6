// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "modeswitch/config.h"

const char *files_root = "";

static int open_kernel_file(int flags, const char *format, va_list args)
{
	char path[PATH_MAX];
	int at = snprintf(path, sizeof(path), "%s", files_root);
	int length = vsnprintf(path + at, sizeof(path) - at, format, args);
	int fd;

	if (length < 0 || length >= (int)sizeof(path) - at)
		return -ENAMETOOLONG;
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int kernel_read(char *text, size_t size, const char *format, ...)
{
	size_t length = 0;
	ssize_t got = 0;
	va_list args;
	int fd;

	va_start(args, format);
	fd = open_kernel_file(O_RDONLY, format, args);
	va_end(args);
	if (fd < 0)
		return fd;
	while (length < size && (got = read(fd, text + length, size - length)) > 0)
		length += got;
	got = got < 0 ? -errno : 0;
	close(fd);
	if (got < 0)
		return got;
	if (length == size)
		return -E2BIG;
	if (length && text[length - 1] == '\n')
		length--;
	text[length] = '\0';
	return length;
}

int kernel_write(const char *text, const char *format, ...)
{
	va_list args;
	ssize_t put;
	int fd;

	va_start(args, format);
	fd = open_kernel_file(O_WRONLY | O_TRUNC, format, args);
	va_end(args);
	if (fd < 0)
		return fd;
	put = write(fd, text, strlen(text));
	put = put < 0 ? -errno : put == (ssize_t)strlen(text) ? 0 : -EIO;
	close(fd);
	return put;
}

uint64_t meminfo_bytes(const char *meminfo, const char *name)
{
	size_t length = strlen(name);
	const char *at = meminfo;

	while ((at = strstr(at, name))) {
		if ((at == meminfo || at[-1] == ' ' || at[-1] == '\n') && at[length] == ':')
			return strtoull(at + length + 1, NULL, 10) << 10;
		at += length;
	}
	return 0;
}

int kernel_read_list(hwloc_bitmap_t list, const char *path)
{
	char text[8192];
	struct ms_error ignored;

	if (kernel_read(text, sizeof(text), "%s", path) < 0)
		return -1;
	return ms_parse_cpus(text, list, &ignored);
}
