/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/program/mapped_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lwkexec/instance/copy.h"

#define PAGE 4096
/* Further files have no number: a program must not make the proxy grow without end. */
#define MAX_FILES 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapped_file *files; /* number 1 is the first */
static uint32_t n_files;

void mapped_files_renew(void)
{
	/* Another thread of the parent may have held the lock when it forked. */
	pthread_mutex_init(&lock, NULL);
}

/* The path of the file that is open there, or NULL; the caller frees it. */
static char *path_of(int fd)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	return n > 0 ? strndup(path, n) : NULL;
}

/* The caller holds the lock. A new file can have the inode of one that is gone, so the path counts, too. */
static uint32_t find_or_add(const struct stat *st, int fd)
{
	struct mapped_file *more;
	char *path = path_of(fd);

	for (uint32_t i = 0; path && i < n_files; i++)
		if (files[i].device == st->st_dev && files[i].inode == st->st_ino &&
		    !strcmp(files[i].path, path)) {
			free(path);
			return i + 1;
		}
	more = path && n_files < MAX_FILES ? realloc(files, (n_files + 1) * sizeof(*files)) : NULL;
	if (!more) {
		free(path);
		return 0;
	}
	files = more;
	files[n_files] = (struct mapped_file){ st->st_dev, st->st_ino, path };
	return ++n_files;
}

uint32_t mapped_file_number(int fd)
{
	struct stat st;
	uint32_t number;

	if (fstat(fd, &st))
		return 0;
	pthread_mutex_lock(&lock);
	number = find_or_add(&st, fd);
	pthread_mutex_unlock(&lock);
	return number;
}

struct mapped_file mapped_file_get(uint64_t number)
{
	struct mapped_file file = { .path = NULL };

	pthread_mutex_lock(&lock);
	if (number && number <= n_files)
		file = files[number - 1];
	pthread_mutex_unlock(&lock);
	return file;
}

/* Opens the file for reading unless its path names another one now. -1 with errno. */
static int reopen(const struct mapped_file *file)
{
	int fd = file->path ? open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || st.st_dev != file->device || st.st_ino != file->inode)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		errno = ENOENT;
	return fd;
}

int64_t mapped_file_load(uint64_t number, uint64_t start, uint64_t size, uint64_t offset)
{
	static const char zeros[PAGE];
	const struct mapped_file file = mapped_file_get(number);
	int fd = reopen(&file);
	uint64_t done = 0;
	ssize_t n = 1;
	int error;

	if (fd < 0)
		return -errno;
	while (done < size && (n > 0 || (n < 0 && errno == EINTR))) {
		n = pread(fd, (void *)(start + done), size - done, offset + done);
		done += n > 0 ? n : 0;
	}
	error = n < 0 ? -errno : 0;
	close(fd);
	/* The file's last page ends with zeros, whatever the program has written there. */
	if (!error && done % PAGE && done < size)
		error = copy_out(start + done, zeros, PAGE - done % PAGE);
	return error ? error : (int64_t)done;
}
