// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/kernel-page-flags.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/files.h"
#include "machine/spare.h"

#define MEMORY_DIR "/sys/devices/system/memory"
#define PAGE 4096UL
/*
 * A block that is not off-line after this time has a page that cannot be moved. An emulated machine
 * copies the contents of a block at 200 MB/s.
 */
#define BLOCK_TRY_MS(bytes) (2000 + 1000 * (int64_t)((bytes) / (128UL << 20)))
/* Larger pages of hugetlbfs have these bytes several times. */
#define SMALLEST_HUGE_PAGE (2UL << 20)

static uint64_t read_hex(const char *path)
{
	char text[32];

	return kernel_read(text, sizeof(text), "%s", path) > 0 ? strtoull(text, NULL, 16) : 0;
}

uint64_t memory_block_bytes(void)
{
	return read_hex(MEMORY_DIR "/block_size_bytes");
}

bool memory_block_is(unsigned long index, const char *state)
{
	char text[32];

	return kernel_read(text, sizeof(text), MEMORY_DIR "/memory%lu/state", index) > 0 &&
	       strcmp(text, state) == 0;
}

bool memory_block_is_movable(unsigned long index)
{
	char zones[64];

	/* For an off-line block, the file lists the zones that the block could go to. */
	return memory_block_is(index, "online") &&
	       kernel_read(zones, sizeof(zones), MEMORY_DIR "/memory%lu/valid_zones", index) > 0 &&
	       strcmp(zones, "Movable") == 0;
}

/* Returns the number of NUMA nodes of a block; *there: 'node' is one of them. */
static unsigned count_nodes(unsigned long block, unsigned node, bool *there)
{
	char path[PATH_MAX], wanted[32];
	struct dirent *entry;
	unsigned n = 0;
	DIR *dir;

	*there = false;
	snprintf(path, sizeof(path), "%s" MEMORY_DIR "/memory%lu", files_root, block);
	snprintf(wanted, sizeof(wanted), "node%u", node);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		unsigned number;

		if (sscanf(entry->d_name, "node%u", &number) != 1)
			continue;
		n++;
		if (strcmp(entry->d_name, wanted) == 0)
			*there = true;
	}
	if (dir)
		closedir(dir);
	return n;
}

static bool look_at_block(unsigned long index, unsigned node, uint64_t block_bytes,
			  struct memory_block *block)
{
	char path[PATH_MAX], zones[64] = "none";
	unsigned n_nodes;
	bool there;

	n_nodes = count_nodes(index, node, &there);
	if (!there)
		return false;
	kernel_read(zones, sizeof(zones), MEMORY_DIR "/memory%lu/valid_zones", index);
	snprintf(path, sizeof(path), MEMORY_DIR "/memory%lu/phys_index", index);
	block->index = index;
	block->start = read_hex(path) * block_bytes;
	block->online = memory_block_is(index, "online");
	block->movable = memory_block_is_movable(index);
	block->unfit = n_nodes != 1 || (block->online && strcmp(zones, "none") == 0);
	return true;
}

/*
 * Marks blocks with pages of hugetlbfs. When such a block goes off-line, Linux keeps that many fewer
 * for good, which were reserved for somebody.
 */
static void leave_out_huge_pages(struct memory_block *blocks, size_t n)
{
	char text[8192], path[PATH_MAX];
	int fd;

	if (kernel_read(text, sizeof(text), "/proc/meminfo") < 0 || !meminfo_bytes(text, "Hugetlb"))
		return;
	snprintf(path, sizeof(path), "%s/proc/kpageflags", files_root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; fd >= 0 && i < n; i++) {
		uint64_t at = blocks[i].start, end = at + memory_block_bytes(), flags;

		for (; !blocks[i].unfit && at < end; at += SMALLEST_HUGE_PAGE)
			blocks[i].unfit = pread(fd, &flags, sizeof(flags),
						at / PAGE * sizeof(flags)) == sizeof(flags) &&
					  (flags >> KPF_HUGE & 1);
	}
	if (fd >= 0)
		close(fd);
}

/*
 * Marks blocks of memory that a driver has added and may remove, such as dax's kmem (CXL, HBM) and
 * virtio_mem. Such a driver removes a block because it is off-line, and asks nobody.
 */
static void leave_out_removable(struct memory_block *blocks, size_t n)
{
	uint64_t block_bytes = memory_block_bytes(), start, end;
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/iomem", files_root);
	file = fopen(path, "re");
	while (file && getline(&line, &size, file) > 0) {
		if (!strstr(line, " : System RAM (") ||
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2)
			continue;
		for (size_t i = 0; i < n; i++)
			blocks[i].unfit |=
				blocks[i].start <= end && blocks[i].start + block_bytes > start;
	}
	free(line);
	if (file)
		fclose(file);
}

static int compare_blocks(const void *a, const void *b)
{
	const struct memory_block *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

size_t memory_blocks(unsigned node, struct memory_block **out)
{
	uint64_t block_bytes = memory_block_bytes();
	struct memory_block *blocks = NULL, block;
	struct dirent *entry;
	char path[PATH_MAX];
	unsigned long index;
	size_t n = 0;
	DIR *dir;

	*out = NULL;
	if (!block_bytes)
		return 0;
	snprintf(path, sizeof(path), "%s" MEMORY_DIR, files_root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		void *more;

		if (sscanf(entry->d_name, "memory%lu", &index) != 1 ||
		    !look_at_block(index, node, block_bytes, &block))
			continue;
		more = reallocarray(blocks, n + 1, sizeof(*blocks));
		if (!more)
			break;
		blocks = more;
		blocks[n++] = block;
	}
	if (dir)
		closedir(dir);
	if (n)
		qsort(blocks, n, sizeof(*blocks), compare_blocks);
	leave_out_huge_pages(blocks, n);
	leave_out_removable(blocks, n);
	*out = blocks;
	return n;
}

int memory_block_return(unsigned long index, const char *how)
{
	return kernel_write(how, MEMORY_DIR "/memory%lu/state", index);
}

/* Runs in a child process. */
static int write_offline(void *context)
{
	return kernel_write("offline", MEMORY_DIR "/memory%lu/state", *(unsigned long *)context);
}

bool memory_block_take(unsigned long index, int64_t deadline)
{
	child_call_watched(write_offline, &index, sizeof(index), deadline, memory_linux_is_short);
	/* The child may have been killed just after it succeeded. */
	return memory_block_is(index, "offline");
}

int64_t memory_block_deadline(void)
{
	return clock_ms() + BLOCK_TRY_MS(memory_block_bytes());
}
