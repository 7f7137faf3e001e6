// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Watches an instance of lwkpart.ko through its own device; see lwkpart.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "driver/lwkpart/lwkpart.h"
#include "driver/lwkpart/usage.h"
#include "modeswitch/counters.h"
#include "modeswitch/watch.h"

static int request(int fd, unsigned long code, void *argument)
{
	return ioctl(fd, code, argument) < 0 ? -errno : 0;
}

static int open_device(const char *device)
{
	int fd = open(device, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

static int read_info(int fd, struct ms_instance_info *info)
{
	static const enum ms_instance_state states[LWK_STATE_COUNT] = {
		[LWK_STATE_CREATED] = MS_INSTANCE_INACTIVE,
		[LWK_STATE_ASSIGNED] = MS_INSTANCE_INACTIVE,
		[LWK_STATE_LOADED] = MS_INSTANCE_INACTIVE,
		[LWK_STATE_BOOTING] = MS_INSTANCE_BOOTING,
		[LWK_STATE_RUNNING] = MS_INSTANCE_RUNNING,
		[LWK_STATE_FREEZING] = MS_INSTANCE_FREEZING,
		[LWK_STATE_FROZEN] = MS_INSTANCE_FROZEN,
		[LWK_STATE_SHUTDOWN] = MS_INSTANCE_SHUTTING_DOWN,
		[LWK_STATE_PANIC] = MS_INSTANCE_PANIC,
		[LWK_STATE_HUNG] = MS_INSTANCE_HUNG,
	};
	struct lwk_instance_details details = { 0 };
	int error = request(fd, LWK_GET_DETAILS, &details);

	if (error)
		return error;
	memset(info, 0, sizeof(*info));
	info->job_id = details.job_id;
	info->uid = details.uid;
	info->state =
		details.state < LWK_STATE_COUNT ? states[details.state] : MS_INSTANCE_INACTIVE;
	info->since_ns = details.since_ns;
	info->cpus = details.cpus;
	info->processes = details.processes;
	info->memory = details.bytes;
	memcpy(info->message, details.message, sizeof(info->message) - 1);
	return 0;
}

/* Copies the status area, which the caller frees with free(), and fills its bounds. */
static int copy_status(int fd, struct lwk_status **status, struct usage_bounds *bounds)
{
	struct ms_instance_info info;
	struct lwk_usage argument = { .capacity = 0 };
	int error = read_info(fd, &info);

	if (error)
		return error;
	/*
	 * The failed call returns the size. The number of CPUs never changes once there is a status
	 * area.
	 */
	error = request(fd, LWK_GET_USAGE, &argument);
	if (error != -ENOSPC || argument.length < sizeof(**status) - sizeof((*status)->cpu))
		return error ? error : -EPROTO;
	*status = malloc(argument.length);
	if (!*status)
		return -ENOMEM;
	argument.buffer = (uintptr_t)*status;
	argument.capacity = argument.length;
	error = request(fd, LWK_GET_USAGE, &argument);
	if (error)
		free(*status);
	*bounds = (struct usage_bounds){
		.bytes = argument.length,
		.n_cpus = argument.cpus,
		.memory = info.memory,
		.tsc = argument.tsc,
		.tsc_khz = argument.tsc_khz,
	};
	return error;
}

static int read_usage(int fd, struct ms_usage *usage)
{
	struct usage_bounds bounds;
	struct lwk_status *status;
	int error = copy_status(fd, &status, &bounds);

	if (error)
		return error;
	error = usage_from_status(status, &bounds, usage);
	free(status);
	return error;
}

static ssize_t read_console(int fd, uint64_t *position, char *text, size_t size)
{
	struct lwkpart_kmsg argument = { .position = *position,
					 .buffer = (uintptr_t)text,
					 .capacity = size > UINT32_MAX ? UINT32_MAX : size };
	int error = request(fd, LWK_KMSG, &argument);

	*position = argument.position;
	/* The console of an instance that was destroyed has no more text. */
	if (error == -EHOSTDOWN)
		return 0;
	return error ? error : (ssize_t)argument.length;
}

static int listen_to(int fd, enum ms_event event, int eventfd)
{
	static const enum lwk_event events[MS_EVENTS] = {
		[MS_EVENT_STATE] = LWK_EVENT_STATE,
		[MS_EVENT_PANIC] = LWK_EVENT_PANIC,
		[MS_EVENT_HANG] = LWK_EVENT_HANG,
		[MS_EVENT_OUT_OF_MEMORY] = LWK_EVENT_OUT_OF_MEMORY,
		[MS_EVENT_CONSOLE] = LWK_EVENT_CONSOLE,
		[MS_EVENT_EXIT] = LWK_EVENT_EXIT,
	};
	struct lwk_eventfd argument = { .fd = eventfd };

	if (event >= MS_EVENTS)
		return -EINVAL;
	argument.event = events[event];
	return request(fd, LWK_EVENTFD, &argument);
}

static int freeze(int fd, bool frozen, unsigned timeout_ms)
{
	struct lwk_freeze argument = { .frozen = frozen, .timeout_ms = timeout_ms };

	return request(fd, LWK_FREEZE, &argument);
}

static int set_counters(int fd, const struct lwk_counter *counters, size_t n)
{
	struct lwk_counters argument = { .command = LWK_COUNTERS_SET, .count = n };

	for (size_t i = 0; i < n; i++)
		argument.counters[i] = counters[i];
	return request(fd, LWK_COUNTERS, &argument);
}

static int run_counters(int fd, bool run)
{
	struct lwk_counters argument = { .command = LWK_COUNTERS_GET };
	int error = request(fd, LWK_COUNTERS, &argument);

	if (!error && !argument.count)
		error = -ENOENT;
	argument.command = run ? LWK_COUNTERS_START : LWK_COUNTERS_STOP;
	return error ? error : request(fd, LWK_COUNTERS, &argument);
}

static int read_counters(int fd, struct ms_counters *counters)
{
	struct lwk_counters argument = { .command = LWK_COUNTERS_GET };
	struct usage_bounds bounds;
	struct lwk_status *status;
	/*
	 * The counters are read before their values: values of earlier counters have another order
	 * number.
	 */
	int error = request(fd, LWK_COUNTERS, &argument);

	if (error)
		return error;
	error = copy_status(fd, &status, &bounds);
	if (error)
		return error;
	error = counters_from_status(&argument, status, &bounds, counters);
	free(status);
	return error;
}

const struct watching watching_lwkpart = {
	.open = open_device,
	.info = read_info,
	.usage = read_usage,
	.console = read_console,
	.listen = listen_to,
	.freeze = freeze,
	.set_counters = set_counters,
	.run_counters = run_counters,
	.read_counters = read_counters,
};
