/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory-runs PID...: prints how contiguous the anonymous memory of these Linux processes is, taken
 * together: "BYTES RUNS LARGEST", where a run is neighbouring page frames. Only root may see page
 * frame numbers in /proc/PID/pagemap.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096
#define PRESENT (UINT64_C(1) << 63)
#define FILE_PAGE (UINT64_C(1) << 61)
#define FRAME ((UINT64_C(1) << 55) - 1)
#define BATCH 4096

static uint64_t *frames;
static size_t n_frames, capacity;

static void add(uint64_t frame)
{
	if (n_frames == capacity) {
		capacity = capacity ? capacity * 2 : 1 << 16;
		frames = realloc(frames, capacity * sizeof(*frames));
		if (!frames)
			err(1, "page frames");
	}
	frames[n_frames++] = frame;
}

static void read_range(int pagemap, uint64_t start, uint64_t end)
{
	uint64_t entries[BATCH];

	for (uint64_t page = start / PAGE; page < end / PAGE;) {
		size_t want = end / PAGE - page < BATCH ? end / PAGE - page : BATCH;
		ssize_t got =
			pread(pagemap, entries, want * sizeof(*entries), page * sizeof(*entries));

		if (got <= 0)
			return;
		for (size_t i = 0; i < got / sizeof(*entries); i++)
			if (entries[i] & PRESENT && !(entries[i] & FILE_PAGE))
				add(entries[i] & FRAME);
		page += got / sizeof(*entries);
	}
}

static void read_process(const char *pid)
{
	char path[64], line[512];
	uint64_t start, end;
	FILE *maps;
	int pagemap;

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fopen(path, "r");
	snprintf(path, sizeof(path), "/proc/%s/pagemap", pid);
	pagemap = open(path, O_RDONLY);
	/* A process that has just ended has no memory. */
	while (maps && pagemap >= 0 && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 &&
		    end < UINT64_C(1) << 47)
			read_range(pagemap, start, end);
	if (maps)
		fclose(maps);
	if (pagemap >= 0)
		close(pagemap);
}

static int compare(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return a < b ? -1 : a > b;
}

int main(int argc, char **argv)
{
	size_t runs = 0, length = 0, largest = 0;

	for (int i = 1; i < argc; i++)
		read_process(argv[i]);
	qsort(frames, n_frames, sizeof(*frames), compare);
	for (size_t i = 0; i < n_frames; i++) {
		if (i == 0 || frames[i] != frames[i - 1] + 1) {
			runs++;
			length = 0;
		}
		if (++length > largest)
			largest = length;
	}
	printf("%zu %zu %zu\n", n_frames * PAGE, runs, largest * PAGE);
	return 0;
}
