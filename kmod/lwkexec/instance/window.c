/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/instance/window.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>

#include "abi/device/device.h"
#include "abi/shared/calls.h"
#include "abi/shared/layout.h"
#include "lwkexec/instance/channel.h"

#define MAX_RESERVED 256

/* Mappings of the proxy itself among the addresses of the LWK process, by address. */
static struct range {
	uint64_t start, end;
} reserved[MAX_RESERVED];
static size_t n_reserved;
static bool mapped_before;

static int map_at(int device, uint64_t start, uint64_t size, int how)
{
	void *part = mmap((void *)start, size, PROT_READ | PROT_WRITE, MAP_SHARED | how, device,
			  LWK_MMAP_WINDOW + (start - LWK_USER_START));

	return part == MAP_FAILED ? -errno : 0;
}

static int map_part(int device, uint64_t start, uint64_t end)
{
	return start < end ? map_at(device, start, end - start, MAP_FIXED_NOREPLACE) : 0;
}

/* Notes what the proxy has there. In a forked child there may also be memory of the program. */
static int note(uint64_t start, uint64_t end)
{
	struct range *last = n_reserved ? &reserved[n_reserved - 1] : NULL;

	if (mapped_before)
		return 0;
	if (last && last->end == start) {
		last->end = end;
		return 0;
	}
	if (n_reserved == MAX_RESERVED)
		return -ENOSPC;
	reserved[n_reserved++] = (struct range){ start, end };
	return 0;
}

int window_map(int device)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t at = LWK_USER_START, start, end;
	char line[PATH_MAX + 128];
	int error = 0;

	if (!maps)
		return -errno;
	while (!error && fgets(line, sizeof(line), maps) &&
	       sscanf(line, "%lx-%lx", &start, &end) == 2 && start < LWK_USER_END) {
		if (end <= LWK_USER_START)
			continue;
		error = map_part(device, at, start);
		if (!error)
			error = note(start, end);
		at = end;
	}
	fclose(maps);
	mapped_before = true;
	return error ? error : map_part(device, at, LWK_USER_END);
}

int64_t window_reserve(void)
{
	int64_t error = 0;

	for (size_t i = 0; i < n_reserved && !error; i++) {
		uint64_t end = reserved[i].end < LWK_USER_END ? reserved[i].end : LWK_USER_END;
		const uint64_t args[6] = { reserved[i].start, end - reserved[i].start };

		error = channel_call(LWK_CALL_RESERVE, args);
	}
	return error;
}

int window_restore(int device, uint64_t start, uint64_t size)
{
	return map_at(device, start, size, MAP_FIXED);
}

void window_unmap(void)
{
	uint64_t at = LWK_USER_START;

	for (size_t i = 0; i < n_reserved; at = reserved[i++].end)
		munmap((void *)at, reserved[i].start - at);
	if (at < LWK_USER_END)
		munmap((void *)at, LWK_USER_END - at);
}
