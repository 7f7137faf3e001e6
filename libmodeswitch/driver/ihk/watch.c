// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Watches and dumps an instance of IHK. Only root can: ihk.json tells whose it is. IHK does not tell the
 * values of struct ms_usage in that form, and nothing here guesses them, so 'usage' and the
 * counters are missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "driver/ihk/ihk.h"

/* The dump_level of ihk_os_makedumpfile(): pages of programs, and unused ones, are left out. */
#define DUMP_WITHOUT_PROGRAMS 24

unsigned ihk_guard_ms = 1000;

/* The contents of the file that open_device() makes: the library opens its devices itself. */
struct watched {
	int os;
	/* IHK gives the number of an instance that ended to another one. */
	uint32_t job_id;
};

static int open_device(const char *device)
{
	size_t prefix = strlen(IHK_DEVICE_PREFIX);
	struct watched watched;
	struct ms_error ignored;
	struct ihk_held held;
	char *end;
	int fd, error;
	long os;

	if (geteuid() != 0)
		return -EACCES;
	if (strncmp(device, IHK_DEVICE_PREFIX, prefix) != 0)
		return -EINVAL;
	os = strtol(device + prefix, &end, 10);
	if (end == device + prefix || *end || os < 0 || os >= IHK_MAX_OS)
		return -EINVAL;
	fd = driver_ihk.open(&ignored);
	if (fd < 0)
		return fd;
	error = ihk_hold(os, &held);
	if (!error) {
		watched = (struct watched){ os, held.instance->job_id };
		ihk_let_go(&held);
		if (pwrite(fd, &watched, sizeof(watched), 0) != sizeof(watched))
			error = -EIO;
	}
	if (error)
		close(fd);
	return error ? error : fd;
}

/* Holds the instance that was opened; -ENOENT when it is gone. */
static int hold(int fd, struct ihk_held *held)
{
	struct watched watched;
	int error;

	if (pread(fd, &watched, sizeof(watched), 0) != sizeof(watched))
		return -EBADF;
	error = ihk_hold(watched.os, held);
	if (!error && held->instance->job_id != watched.job_id) {
		ihk_let_go(held);
		error = -ENOENT;
	}
	return error;
}

static int read_info(int fd, struct ms_instance_info *info)
{
	struct ihk_held held;
	int error = hold(fd, &held), os;

	if (error)
		return error;
	os = held.instance->os;
	*info = (struct ms_instance_info){ .processes = MS_UNKNOWN };
	for (size_t i = 0; i < held.owned.n_cpus; i++)
		info->cpus += held.owned.cpus[i].instance == os;
	for (size_t i = 0; i < held.owned.n_chunks; i++)
		info->memory +=
			held.owned.chunks[i].instance == os ? held.owned.chunks[i].bytes : 0;
	info->job_id = held.instance->job_id;
	info->uid = held.instance->uid;
	info->state = ihk_state(held.instance);
	ihk_let_go(&held);
	return 0;
}

static ssize_t read_console(int fd, uint64_t *position, char *text, size_t size)
{
	struct ihk_held held;
	ssize_t length = hold(fd, &held);

	if (length < 0)
		return length;
	length = ihk_read_kmsg(&held, position, text, size);
	ihk_let_go(&held);
	return length;
}

static int set_frozen(int fd, bool frozen)
{
	unsigned long set[IHK_MAX_OS / 64] = { 0 };
	struct ihk_held held;
	int error = hold(fd, &held), os;

	if (error)
		return error;
	os = held.instance->os;
	set[os / 64] = 1UL << os % 64;
	if (!held.instance->booted || held.instance->ending)
		error = -EHOSTDOWN;
	else
		error = frozen ? ihk->os_freeze(set, IHK_MAX_OS) : ihk->os_thaw(set, IHK_MAX_OS);
	ihk_let_go(&held);
	return error > 0 ? -EPROTO : error;
}

/* IHK has said that it froze an LWK that went on, so its state is asked. */
static int freeze(int fd, bool frozen, unsigned timeout_ms)
{
	enum ms_instance_state wanted = frozen ? MS_INSTANCE_FROZEN : MS_INSTANCE_RUNNING;
	int64_t deadline = clock_ms() + timeout_ms;
	struct ms_instance_info info;
	int error = set_frozen(fd, frozen);

	while (!error && !(error = read_info(fd, &info)) && info.state != wanted) {
		if (info.state == MS_INSTANCE_INACTIVE) {
			error = -EHOSTDOWN;
		} else if (clock_ms() >= deadline) {
			if (frozen)
				set_frozen(fd, false);
			error = -ETIMEDOUT;
		} else {
			usleep(20000);
		}
	}
	return error;
}

/*
 * True when the console has other text than at the last look, so that it is worth asking for the state: IHK
 * writes to Linux's log whenever it is asked.
 */
static bool has_new_text(const struct ihk_held *held, char **last, int *last_length)
{
	char *text;
	int length = ihk_copy_kmsg(held, &text);
	bool is_new = length != *last_length || length < 0 || memcmp(text, *last, length) != 0;

	free(*last);
	*last = text;
	*last_length = length;
	return is_new;
}

/*
 * McKernel does not end mcexec when it panics. A panic may write its text a moment before the state tells of it, so
 * the state is asked at two looks.
 */
static int guard(int fd)
{
	enum ms_instance_state state = MS_INSTANCE_RUNNING;
	int last_length = -1, asks = 0, error, os;
	struct ihk_held held;
	char *last = NULL;
	uid_t uid;

	while ((error = hold(fd, &held)) == 0 || error == -EBUSY) {
		if (!error) {
			os = held.instance->os;
			uid = held.instance->uid;
			if (has_new_text(&held, &last, &last_length))
				asks = 2;
			if (asks) {
				asks--;
				state = ihk_state(held.instance);
			}
			ihk_let_go(&held);
		}
		if (state == MS_INSTANCE_PANIC || state == MS_INSTANCE_HUNG) {
			ihk_end_proxies(os, uid);
			break;
		}
		usleep(ihk_guard_ms * 1000);
	}
	free(last);
	return !error;
}

/* IHK makes the LWK note its registers first, and waits some seconds for that. */
static int write_dump(int dev, unsigned instance, uint32_t job_id, const char *path)
{
	char name[PATH_MAX];
	struct ihk_held held;
	int error = ihk_hold(instance, &held);

	if (error)
		return error;
	snprintf(name, sizeof(name), "%s", path);
	if (held.instance->job_id != job_id)
		error = -ENOENT;
	else if (!held.instance->booted || held.instance->ending)
		error = -ENODATA;
	else
		error = ihk->os_makedumpfile(instance, name, DUMP_WITHOUT_PROGRAMS, 0);
	ihk_let_go(&held);
	return error > 0 ? -EPROTO : error;
}

const struct dumping dumping_ihk = { .write_file = write_dump };

const struct watching watching_ihk = {
	.open = open_device,
	.info = read_info,
	.console = read_console,
	.freeze = freeze,
	.guard = guard,
};
