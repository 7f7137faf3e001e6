// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Scans the pages of processes: by lwkpart.ko, which reads Accessed bits; without it by
 * /proc/PID/pagemap and soft-dirty bits, which tell of writes only.
 */
#include "migrate/find/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <numaif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "base/clock.h"
#include "migrate/base/context.h"
#include "migrate/base/throttle.h"
#include "migrate/find/targets.h"

#define DAMON_DIR "/sys/kernel/mm/damon"
#define PAGEMAP_PRESENT (1ULL << 63)
#define PAGEMAP_FILE (1ULL << 61)
#define PAGEMAP_EXCLUSIVE (1ULL << 56)
#define PAGEMAP_SOFT_DIRTY (1ULL << 55)
#define PAGEMAP_PFN ((1ULL << 55) - 1)
/* Entries of pagemap that are read at a time, and whose nodes are asked for in one call. */
#define PAGEMAP_CHUNK 4096
/* clear_refs takes this for the soft-dirty bits. */
#define CLEAR_SOFT_DIRTY "4"

void scan_open(struct migration *migration)
{
	struct lwkpart_info info = { 0 };
	int device = open(LWKPART_DEVICE, O_RDWR | O_CLOEXEC);

	migration->state.source = "accessed";
	migration->device = device;
	if (device >= 0 && ioctl(device, LWKPART_GET_INFO, &info) == 0 &&
	    info.abi_version == LWKPART_ABI_VERSION)
		return;
	if (device >= 0)
		close(device);
	migration->device = -1;
	migration->state.source = "soft-dirty";
	migration_note(
		migration,
		"only what is written is known to be in use (soft-dirty bits), not what is read: "
		"run it as root with lwkpart.ko loaded (modprobe lwkpart) to know both; %s",
		access(DAMON_DIR, F_OK) == 0
			? "this kernel's DAMON does not help: it knows regions, not pages"
			: "this kernel has no DAMON");
}

/* ---- by lwkpart.ko: Accessed bits ---- */

static ssize_t scan_accessed(struct migration *migration, struct migrate_process *process,
			     uint64_t *at, uint64_t end, bool clear, uint64_t *words, size_t room)
{
	struct lwkpart_scan scan = {
		.pid = process->pid,
		.flags = clear ? LWKPART_SCAN_CLEAR : 0,
		.start = *at,
		.end = end & ~(PAGE_BYTES - 1),
		.pages = (uintptr_t)words,
		.capacity = room < SCAN_CHUNK ? room : SCAN_CHUNK,
	};
	size_t n = migration->n_physical;
	unsigned node;

	hwloc_bitmap_foreach_begin(node, migration->request->from)
		scan.nodes[node / 64] |= 1ULL << node % 64;
	hwloc_bitmap_foreach_end();
	if (n) {
		scan.physical_start = migration->physical[0].start;
		scan.physical_end = migration->physical[n - 1].end;
	}
	if (migration_call(migration, LWKPART_SCAN, &scan) < 0)
		return -1;
	*at = scan.start == scan.end ? SCAN_END : scan.start;
	return scan.count;
}

/* ---- by pagemap: soft-dirty bits ---- */

static int open_of(const struct migrate_process *process, const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", process->pid, name);
	return open(path, flags | O_CLOEXEC);
}

bool page_present(const struct migrate_process *process, uint64_t address)
{
	int fd = open_of(process, "pagemap", O_RDONLY);
	uint64_t entry = 0;
	ssize_t got;

	if (fd < 0)
		return false;
	got = pread(fd, &entry, sizeof(entry), address / PAGE_BYTES * sizeof(entry));
	close(fd);
	return got == sizeof(entry) && (entry & PAGEMAP_PRESENT);
}

static int read_mappings(struct migrate_process *process)
{
	int fd = open_of(process, "maps", O_RDONLY);
	struct migrate_range range, *more;
	char line[512], access[8];
	FILE *file;

	free(process->mappings);
	process->mappings = NULL;
	process->n_mappings = 0;
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		/*
		 * Ranges that nobody can access hold no pages, and can be endless; [vdso]
		 * and the like are the kernel's own.
		 */
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &range.start, &range.end, access) !=
			    3 ||
		    strncmp(access, "---", 3) == 0 || strstr(line, " [v"))
			continue;
		more = reallocarray(process->mappings, process->n_mappings + 1, sizeof(range));
		if (!more)
			break;
		process->mappings = more;
		process->mappings[process->n_mappings++] = range;
	}
	fclose(file);
	return 0;
}

/* Keeps the pages that are on the nodes, and pages whose node the kernel does not tell. */
static ssize_t keep_wanted(struct migration *migration, struct migrate_process *process,
			   uint64_t *words, size_t n)
{
	void *addresses[PAGEMAP_CHUNK];
	int nodes[PAGEMAP_CHUNK];
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		addresses[i] = (void *)(uintptr_t)(words[i] & ~(PAGE_BYTES - 1));
	if (n && move_pages(process->pid, n, addresses, NULL, nodes, 0) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (nodes[i] == -ENOENT)
			words[kept++] = words[i] | LWKPART_PAGE_HINTED;
		else if (nodes[i] >= 0 && hwloc_bitmap_isset(migration->request->from, nodes[i]))
			words[kept++] = words[i];
	}
	return kept;
}

static ssize_t scan_pagemap_range(struct migration *migration, struct migrate_process *process,
				  int pagemap, uint64_t start, uint64_t end, uint64_t *words)
{
	uint64_t entries[PAGEMAP_CHUNK];
	size_t wanted = (end - start) / PAGE_BYTES, n = 0;
	ssize_t got = pread(pagemap, entries, wanted * sizeof(*entries),
			    start / PAGE_BYTES * sizeof(*entries));

	if (got < 0)
		return -1;
	for (size_t i = 0; i < got / sizeof(*entries); i++) {
		if (!(entries[i] & PAGEMAP_PRESENT))
			continue;
		words[n] = start + i * PAGE_BYTES;
		words[n] |= entries[i] & PAGEMAP_FILE ? LWKPART_PAGE_FILE : 0;
		words[n] |= entries[i] & PAGEMAP_EXCLUSIVE ? 0 : LWKPART_PAGE_SHARED;
		words[n] |= entries[i] & PAGEMAP_SOFT_DIRTY ? LWKPART_PAGE_REFERENCED : 0;
		n++;
	}
	return keep_wanted(migration, process, words, n);
}

static ssize_t scan_pagemap(struct migration *migration, struct migrate_process *process,
			    uint64_t *at, uint64_t last, uint64_t *words, size_t room)
{
	int pagemap = open_of(process, "pagemap", O_RDONLY);
	ssize_t n = 0, got = 0;

	if (pagemap < 0 || (*at == 0 && read_mappings(process) < 0))
		got = -1;
	for (size_t i = 0; i < process->n_mappings && got >= 0; i++) {
		const struct migrate_range *range = &process->mappings[i];
		uint64_t start = range->start > *at ? range->start : *at, end;
		uint64_t stop = range->end < last ? range->end : last;

		for (; start < stop && room - n > 0 && got >= 0; start = end) {
			uint64_t pages = (stop - start) / PAGE_BYTES;

			pages = pages < room - n ? pages : room - n;
			pages = pages < PAGEMAP_CHUNK ? pages : PAGEMAP_CHUNK;
			end = start + pages * PAGE_BYTES;
			got = scan_pagemap_range(migration, process, pagemap, start, end,
						 words + n);
			n += got > 0 ? got : 0;
			*at = end;
		}
	}
	if (pagemap >= 0)
		close(pagemap);
	if (!process->n_mappings || *at >= last ||
	    *at >= process->mappings[process->n_mappings - 1].end)
		*at = SCAN_END;
	return got < 0 ? -1 : n;
}

static void clear_soft_dirty(struct migrate_process *process)
{
	int fd = open_of(process, "clear_refs", O_WRONLY);

	if (fd < 0)
		return;
	/* Without clearing, every page counts as used: the order is lost, but nothing fails. */
	if (write(fd, CLEAR_SOFT_DIRTY, 1) < 0)
		process->gone = target_gone(process);
	close(fd);
}

/* ---- by either ---- */

/* Keeps the pages of the selection; both are sorted. */
static size_t keep_only(const struct migrate_selection *selection, uint64_t *words, size_t n)
{
	size_t kept = 0, range = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t address = words[i] & ~(PAGE_BYTES - 1);

		while (range < selection->n && selection->ranges[range].end <= address)
			range++;
		if (range < selection->n && address >= selection->ranges[range].start)
			words[kept++] = words[i];
	}
	return kept;
}

static bool is_in(const struct migration *migration, uint64_t physical)
{
	size_t low = 0, high = migration->n_physical;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (physical >= migration->physical[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	return low < migration->n_physical && physical >= migration->physical[low].start;
}

/* Keeps the pages in the physical ranges; the scan knew only the ends of them all. */
static ssize_t keep_physical(const struct migration *migration,
			     const struct migrate_process *process, uint64_t *words, size_t n)
{
	int pagemap = open_of(process, "pagemap", O_RDONLY);
	uint64_t entry;
	size_t kept = 0;

	for (size_t i = 0; pagemap >= 0 && i < n; i++) {
		if (pread(pagemap, &entry, sizeof(entry), words[i] / PAGE_BYTES * sizeof(entry)) ==
			    sizeof(entry) &&
		    (entry & PAGEMAP_PRESENT) &&
		    is_in(migration, (entry & PAGEMAP_PFN) * PAGE_BYTES))
			words[kept++] = words[i];
	}
	if (pagemap < 0)
		return -1;
	close(pagemap);
	return kept;
}

ssize_t scan_part(struct migration *migration, struct migrate_process *process, uint64_t *at,
		  uint64_t end, bool clear, uint64_t *words, size_t room)
{
	int64_t cpu = thread_cpu_ns();
	ssize_t n = -1;

	errno = ESRCH;
	if (!target_gone(process))
		n = migration->device >= 0
			    ? scan_accessed(migration, process, at, end, clear, words, room)
			    : scan_pagemap(migration, process, at, end, words, room);
	if (n > 0 && migration->n_physical > 1)
		n = keep_physical(migration, process, words, n);
	if (n < 0) {
		process->locked |= errno == EBUSY;
		if (errno != ESRCH && errno != ENOENT && !process->locked && !target_gone(process))
			migration->scan_error = errno;
		process->gone = true;
		*at = SCAN_END;
	}
	if (n > 0 && process->only)
		n = keep_only(process->only, words, n);
	migration->state.scan_cpu_seconds += (thread_cpu_ns() - cpu) / 1e9;
	return n;
}

int scan_process(struct migration *migration, struct migrate_process *process, bool clear,
		 uint64_t **words, size_t *room, size_t *n)
{
	uint64_t at = 0, *more;
	ssize_t got;

	for (*n = 0; at != SCAN_END; *n += got) {
		if (*n + SCAN_CHUNK > *room) {
			*room = *room * 2 + SCAN_CHUNK;
			more = reallocarray(*words, *room, sizeof(**words));
			if (!more)
				return -1;
			*words = more;
		}
		got = scan_part(migration, process, &at, SCAN_END, clear, *words + *n, SCAN_CHUNK);
		if (got < 0)
			got = 0;
		if (!throttle_wait(migration, 0, 0))
			break;
	}
	if (clear && migration->device < 0)
		clear_soft_dirty(process);
	return 0;
}

int scan_forget_use(struct migration *migration, struct ms_error *err)
{
	uint64_t *words = NULL;
	size_t room = 0, n;
	int ret = 0;

	for (size_t i = 0; i < migration->n_processes && ret == 0; i++) {
		if (migration->device < 0)
			clear_soft_dirty(&migration->processes[i]);
		else
			ret = scan_process(migration, &migration->processes[i], true, &words, &room,
					   &n);
	}
	free(words);
	migration->state.scans++;
	return ret < 0 ? ms_fail(err, "out of memory") : 0;
}
