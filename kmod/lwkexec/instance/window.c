/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/instance/window.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>

#include "abi/device/device.h"
#include "abi/shared/layout.h"

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
		at = end;
	}
	fclose(maps);
	return error ? error : map_part(device, at, LWK_USER_END);
}

int window_restore(int device, uint64_t start, uint64_t size)
{
	return map_at(device, start, size, MAP_FIXED);
}

void window_unmap(void)
{
	munmap((void *)LWK_USER_START, LWK_USER_END - LWK_USER_START);
}
