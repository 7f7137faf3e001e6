// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Watches an instance of IHK. Only root can: ihk.json tells whose it is. What IHK does not tell in
 * the way that struct ms_usage has it is not guessed, so 'usage' and the counters are missing here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "driver/ihk/ihk.h"

/* The number of the instance is the contents of this file: the library opens its devices itself. */
static int open_device(const char *device)
{
	size_t prefix = strlen(IHK_DEVICE_PREFIX);
	struct ms_error ignored;
	char *end;
	long os;
	int fd;

	if (geteuid() != 0)
		return -EACCES;
	if (strncmp(device, IHK_DEVICE_PREFIX, prefix) != 0)
		return -EINVAL;
	os = strtol(device + prefix, &end, 10);
	if (end == device + prefix || *end || os < 0 || os >= IHK_MAX_OS)
		return -EINVAL;
	fd = driver_ihk.open(&ignored);
	if (fd >= 0 && pwrite(fd, &os, sizeof(os), 0) != sizeof(os)) {
		close(fd);
		fd = -EIO;
	}
	return fd;
}

static int instance_of(int fd)
{
	long os;

	return pread(fd, &os, sizeof(os), 0) == sizeof(os) ? (int)os : -EBADF;
}

static int read_info(int fd, struct ms_instance_info *info)
{
	struct owned_instance *found;
	struct owned owned;
	int error = owned_load(&owned);

	if (error)
		return error;
	*info = (struct ms_instance_info){ .processes = MS_UNKNOWN };
	error = ihk_find_instance(&owned, instance_of(fd), &found);
	for (size_t i = 0; !error && i < owned.n_cpus; i++)
		info->cpus += owned.cpus[i].instance == found->os;
	for (size_t i = 0; !error && i < owned.n_chunks; i++)
		info->memory += owned.chunks[i].instance == found->os ? owned.chunks[i].bytes : 0;
	if (!error) {
		info->job_id = found->job_id;
		info->uid = found->uid;
		info->state = ihk_state(found);
	}
	owned_release(&owned);
	return error;
}

static ssize_t read_console(int fd, uint64_t *position, char *text, size_t size)
{
	int os = instance_of(fd);

	return os < 0 ? os : driver_ihk.kmsg(fd, os, position, text, size);
}

/* IHK has said that it froze an LWK that went on, so its state is asked. */
static int freeze(int fd, bool frozen, unsigned timeout_ms)
{
	int64_t deadline = clock_ms() + timeout_ms;
	int os = instance_of(fd), wanted = frozen ? IHK_STATUS_FROZEN : IHK_STATUS_RUNNING, error;
	unsigned long set[IHK_MAX_OS / 64] = { 0 };

	if (os < 0)
		return os;
	set[os / 64] = 1UL << os % 64;
	error = frozen ? ihk->os_freeze(set, IHK_MAX_OS) : ihk->os_thaw(set, IHK_MAX_OS);
	while (!error && ihk->os_get_status(os) != wanted) {
		if (clock_ms() >= deadline) {
			if (frozen)
				ihk->os_thaw(set, IHK_MAX_OS);
			return -ETIMEDOUT;
		}
		usleep(20000);
	}
	return error > 0 ? -EPROTO : error;
}

const struct watching watching_ihk = {
	.open = open_device,
	.info = read_info,
	.console = read_console,
	.freeze = freeze,
};
