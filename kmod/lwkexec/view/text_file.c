/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/view/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int64_t text_file(const char *text, size_t length, int flags)
{
	int fd = memfd_create("proc", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);

	if (fd < 0)
		return -ENOMEM;
	if (write(fd, text, length) != (ssize_t)length) {
		close(fd);
		return -ENOMEM;
	}
	lseek(fd, 0, SEEK_SET);
	return fd;
}

int64_t text_file_printed(void (*print)(FILE *), int flags)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int64_t result = -ENOMEM;

	if (!out)
		return -ENOMEM;
	print(out);
	if (fclose(out) == 0)
		result = text_file(text, length, flags);
	free(text);
	return result;
}
