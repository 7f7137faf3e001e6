/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/self/maps: the LWK knows what is mapped, and only we know files. So each file that is mapped
 * has a number here, which the LWK keeps with the mapping and gives back when it tells us all of them.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lwkexec/lwkexec.h"

/* Files beyond that have no names: a program must not make us grow for ever. */
#define MAX_FILES 4096
/* Where Linux puts the name in a line. */
#define NAME_COLUMN 73

struct file {
	dev_t device;
	ino_t inode;
	char *path;
};

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static struct file *files; /* number 1 is the first */
static uint32_t n_files;

struct area {
	uint64_t start, end, prot, flags, file, offset;
};

static __thread struct area *areas;
static __thread size_t n_areas;

void maps_renew(void)
{
	/* Another thread of our parent may have had it. */
	pthread_mutex_init(&files_lock, NULL);
}

/* The path of what is open there, the caller's to free, or NULL. */
static char *path_of(int fd)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	return n > 0 ? strndup(path, n) : NULL;
}

/* With the lock held. */
static uint32_t find_or_add(const struct stat *st, int fd)
{
	struct file *more;
	char *path;

	for (uint32_t i = 0; i < n_files; i++)
		if (files[i].device == st->st_dev && files[i].inode == st->st_ino)
			return i + 1;
	if (n_files == MAX_FILES)
		return 0;
	more = realloc(files, (n_files + 1) * sizeof(*files));
	if (!more)
		return 0;
	files = more;
	path = path_of(fd);
	if (!path)
		return 0;
	files[n_files] = (struct file){ st->st_dev, st->st_ino, path };
	return ++n_files;
}

uint32_t maps_file(int fd)
{
	struct stat st;
	uint32_t number;

	if (fstat(fd, &st))
		return 0;
	pthread_mutex_lock(&files_lock);
	number = find_or_add(&st, fd);
	pthread_mutex_unlock(&files_lock);
	return number;
}

int64_t maps_add(const uint64_t args[6])
{
	struct area *more = realloc(areas, (n_areas + 1) * sizeof(*areas));

	if (!more)
		return -ENOMEM;
	areas = more;
	memcpy(&areas[n_areas++], args, sizeof(*areas));
	return 0;
}

bool maps_known(void)
{
	return n_areas;
}

/* As Linux calls what is no file. */
static char *kind_of(const struct area *area)
{
	if (area->flags & LWK_AREA_HEAP)
		return "[heap]";
	return area->end == STACK_TOP		? "[stack]"
	       : area->start == LWK_CLOCK_VADDR ? "[vvar]"
	       : area->start == LWK_VDSO_VADDR	? "[vdso]"
						: "";
}

/* Called with the lock held, which keeps what it returns. */
static struct file file_of(const struct area *area)
{
	if (area->file && area->file <= n_files)
		return files[area->file - 1];
	return (struct file){ .path = kind_of(area) };
}

static void print_area(FILE *out, const struct area *area)
{
	struct file file = file_of(area);
	int n = fprintf(out, "%08lx-%08lx %c%c%c%c %08lx %02x:%02x %lu ", area->start, area->end,
			area->prot & PROT_READ ? 'r' : '-', area->prot & PROT_WRITE ? 'w' : '-',
			area->prot & PROT_EXEC ? 'x' : '-',
			area->flags & LWK_AREA_SHARED ? 's' : 'p', file.inode ? area->offset : 0,
			major(file.device), minor(file.device), file.inode);

	if (*file.path)
		fprintf(out, "%*s%s", n < NAME_COLUMN ? NAME_COLUMN - n : 0, "", file.path);
	putc('\n', out);
}

void maps_print(FILE *out)
{
	static const struct area clock = { LWK_CLOCK_VADDR, LWK_VDSO_VADDR, .prot = PROT_READ },
				 vdso = { LWK_VDSO_VADDR, LWK_VDSO_VADDR + LWK_VDSO_BYTES,
					  .prot = PROT_READ | PROT_EXEC };

	pthread_mutex_lock(&files_lock);
	for (size_t i = 0; i < n_areas; i++)
		print_area(out, &areas[i]);
	print_area(out, &clock);
	print_area(out, &vdso);
	pthread_mutex_unlock(&files_lock);
	free(areas);
	areas = NULL;
	n_areas = 0;
}
