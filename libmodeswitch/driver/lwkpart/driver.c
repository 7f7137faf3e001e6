// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Speaks to lwkpart.ko; see lwkpart.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "driver/lwkpart/lwkpart.h"
#include "modeswitch/job.h"

static int request(int dev, unsigned long code, void *argument)
{
	return ioctl(dev, code, argument) < 0 ? -errno : 0;
}

static int open_any(struct ms_error *err)
{
	int dev = open(LWKPART_DEVICE, O_RDWR | O_CLOEXEC), error;

	if (dev >= 0)
		return dev;
	error = errno == ENXIO || errno == ENODEV ? ENOENT : errno;
	ms_fail(err, "%s: %s", LWKPART_DEVICE, strerror(error));
	return -error;
}

static int lwkpart_open(struct ms_error *err)
{
	struct lwkpart_info info = { 0 };
	int dev = open_any(err), error;

	if (dev < 0)
		return dev;
	error = request(dev, LWKPART_GET_INFO, &info);
	if (!error && info.abi_version == LWKPART_ABI_VERSION)
		return dev;
	close(dev);
	if (error)
		ms_fail(err, "%s does not answer: %s", LWKPART_DEVICE, strerror(-error));
	else
		ms_fail(err,
			"lwkpart.ko is of another release: expected ABI version %d, found %u loaded; "
			"install the module of slurm-lwk " PACKAGE_VERSION
			", and let the node's LWK jobs end: the next one loads it",
			LWKPART_ABI_VERSION, info.abi_version);
	return error ? error : -EPROTO;
}

static void lwkpart_close(int dev)
{
	close(dev);
}

static int lend_cpu(int dev, unsigned cpu)
{
	struct lwkpart_cpu argument = { .cpu = cpu };

	return request(dev, LWKPART_LEND_CPU, &argument);
}

static int return_cpu(int dev, unsigned cpu)
{
	struct lwkpart_cpu argument = { .cpu = cpu };

	return request(dev, LWKPART_RETURN_CPU, &argument);
}

static int lend_blocks(int dev, uint64_t start, uint64_t bytes, unsigned node)
{
	struct lwkpart_mem argument = {
		.start = start, .size = bytes, .node = node, .kind = LWKPART_MEM_BLOCK
	};

	return request(dev, LWKPART_LEND_MEM, &argument);
}

static int lend_run(int dev, uint64_t bytes, unsigned node, uint64_t *start)
{
	struct lwkpart_mem argument = { .size = bytes, .node = node, .kind = LWKPART_MEM_CONTIG };
	int error = request(dev, LWKPART_LEND_MEM, &argument);

	*start = argument.start;
	return error;
}

static int return_memory(int dev, uint64_t start, uint64_t bytes)
{
	struct lwkpart_mem argument = { .start = start, .size = bytes };

	return request(dev, LWKPART_RETURN_MEM, &argument);
}

static int read_ledger(int dev, struct ms_lent **out, size_t *n)
{
	struct lwkpart_ledger argument = { .capacity = 256 };
	struct lwkpart_ledger_entry *entries = NULL;
	struct ms_lent *lent;
	void *more;
	int error;

	/* The ledger may grow between two calls, so this repeats until all of it fits. */
	do {
		argument.capacity =
			argument.count > argument.capacity ? argument.count : argument.capacity;
		more = reallocarray(entries, argument.capacity, sizeof(*entries));
		if (!more) {
			free(entries);
			return -ENOMEM;
		}
		entries = more;
		argument.entries = (uintptr_t)entries;
		error = request(dev, LWKPART_GET_LEDGER, &argument);
	} while (!error && argument.count > argument.capacity);
	lent = error ? NULL : calloc(argument.count + 1, sizeof(*lent));
	if (!lent) {
		free(entries);
		return error ? error : -ENOMEM;
	}
	for (uint32_t i = 0; i < argument.count; i++) {
		lent[i] = (struct ms_lent){
			.is_cpu = entries[i].kind == 0,
			.is_blocks = entries[i].kind == LWKPART_MEM_BLOCK,
			.instance = entries[i].instance == LWKPART_NO_INSTANCE
					    ? MS_NO_INSTANCE
					    : (int)entries[i].instance,
			.cpu = entries[i].cpu,
			.node = entries[i].node,
			.start = entries[i].start,
			.bytes = entries[i].size,
		};
	}
	free(entries);
	*out = lent;
	*n = argument.count;
	return 0;
}

static int create(int dev, uint32_t job_id, uid_t uid, bool kernel_calls, bool limited)
{
	struct lwkpart_create argument = {
		.uid = uid,
		.job_id = job_id,
		.flags = (kernel_calls ? 0 : LWKPART_CREATE_PROXY_CALLS) |
			 (limited ? LWKPART_CREATE_LIMITED : 0),
	};
	int error = request(dev, LWKPART_CREATE, &argument);

	return error ? error : (int)argument.instance;
}

static int destroy(int dev, unsigned instance)
{
	struct lwkpart_instance_op argument = { .instance = instance };

	return request(dev, LWKPART_DESTROY, &argument);
}

static int shut_down(int dev, unsigned instance)
{
	struct lwkpart_instance_op argument = { .instance = instance };

	return request(dev, LWKPART_SHUTDOWN, &argument);
}

static int assign_cpu(int dev, unsigned instance, unsigned cpu, unsigned doorbell_cpu)
{
	struct lwkpart_assign_cpu argument = { .instance = instance,
					       .cpu = cpu,
					       .doorbell_cpu = doorbell_cpu };

	return request(dev, LWKPART_ASSIGN_CPU, &argument);
}

static int assign_memory(int dev, unsigned instance, uint64_t start, uint64_t bytes)
{
	struct lwkpart_assign_mem argument = { .instance = instance,
					       .start = start,
					       .size = bytes };

	return request(dev, LWKPART_ASSIGN_MEM, &argument);
}

static int confine(int dev, unsigned instance, const int *fds, size_t n)
{
	struct lwkpart_confine argument = { .instance = instance, .count = n };

	if (n > LWKPART_MAX_GROUPS)
		return -E2BIG;
	for (size_t i = 0; i < n; i++)
		argument.fds[i] = fds[i];
	return request(dev, LWKPART_CONFINE, &argument);
}

static int load(int dev, unsigned instance, const void *image, size_t size)
{
	struct lwkpart_load argument = { .instance = instance,
					 .image = (uintptr_t)image,
					 .size = size };

	if (size > LWKPART_MAX_IMAGE)
		return -EFBIG;
	return request(dev, LWKPART_LOAD, &argument);
}

static int boot(int dev, unsigned instance, const char *args, unsigned timeout_ms)
{
	struct lwkpart_boot argument = { .instance = instance, .timeout_ms = timeout_ms };

	if (strlen(args) >= sizeof(argument.cmdline))
		return -E2BIG;
	strcpy(argument.cmdline, args);
	return request(dev, LWKPART_BOOT, &argument);
}

static int info(int dev, unsigned instance, struct instance_info *out)
{
	static const char *const states[LWK_STATE_COUNT] = {
		[LWK_STATE_CREATED] = "CREATED", [LWK_STATE_ASSIGNED] = "ASSIGNED",
		[LWK_STATE_LOADED] = "LOADED",	 [LWK_STATE_BOOTING] = "BOOTING",
		[LWK_STATE_RUNNING] = "RUNNING", [LWK_STATE_FREEZING] = "FREEZING",
		[LWK_STATE_FROZEN] = "FROZEN",	 [LWK_STATE_SHUTDOWN] = "SHUTDOWN",
		[LWK_STATE_PANIC] = "PANIC",	 [LWK_STATE_HUNG] = "HUNG",
	};
	struct lwkpart_instance_info argument = { .instance = instance };
	int error = request(dev, LWKPART_GET_INSTANCE, &argument);

	if (error)
		return error;
	out->job_id = argument.job_id;
	out->failed = argument.state == LWK_STATE_PANIC || argument.state == LWK_STATE_HUNG;
	out->idle = argument.state == LWK_STATE_CREATED || argument.state == LWK_STATE_ASSIGNED;
	out->memory_clear = argument.memory_clear;
	out->state = argument.state < LWK_STATE_COUNT ? states[argument.state] : "UNKNOWN";
	snprintf(out->message, sizeof(out->message), "%.*s", (int)sizeof(argument.message) - 1,
		 argument.message);
	return 0;
}

static ssize_t kmsg(int dev, unsigned instance, uint64_t *position, char *text, size_t size)
{
	struct lwkpart_kmsg argument = { .instance = instance,
					 .position = *position,
					 .buffer = (uintptr_t)text,
					 .capacity = size };
	int error = request(dev, LWKPART_KMSG, &argument);

	*position = argument.position;
	return error ? error : (ssize_t)argument.length;
}

static int hang_limit(int dev, unsigned instance, unsigned limit_ms)
{
	struct lwkpart_hang_limit argument = { .instance = instance, .limit_ms = limit_ms };

	return request(dev, LWKPART_HANG_LIMIT, &argument);
}

const struct driver driver_lwkpart = {
	.name = "lwkpart",
	.module = "lwkpart",
	.device_prefix = LWK_DEVICE_DIR "/",
	.open = lwkpart_open,
	.open_any = open_any,
	.close = lwkpart_close,
	.lend_cpu = lend_cpu,
	.return_cpu = return_cpu,
	.lend_blocks = lend_blocks,
	.lend_run = lend_run,
	.return_memory = return_memory,
	.ledger = read_ledger,
	.create = create,
	.destroy = destroy,
	.assign_cpu = assign_cpu,
	.assign_memory = assign_memory,
	.confine = confine,
	.load = load,
	.boot = boot,
	.shutdown = shut_down,
	.info = info,
	.max_instances = LWKPART_MAX_INSTANCES,
	.kmsg = kmsg,
	.hang_limit = hang_limit,
	.keeps_warm = true,
	.watching = &watching_lwkpart,
	.dumping = &dumping_lwkpart,
};
