// SPDX-License-Identifier: GPL-2.0-or-later
/* Wraps each request to /dev/lwkpart in a function. */
#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "abi.h"

int device = -1;
struct lwkpart_ledger_entry ledger[MAX_LEDGER];

int call(unsigned long command, void *argument)
{
	return ioctl(device, command, argument) ? errno : 0;
}

int lend_cpu(unsigned int cpu)
{
	struct lwkpart_cpu request = { .cpu = cpu };

	return call(LWKPART_LEND_CPU, &request);
}

int return_cpu(unsigned int cpu)
{
	struct lwkpart_cpu request = { .cpu = cpu };

	return call(LWKPART_RETURN_CPU, &request);
}

int lend_contig(__u64 *start, __u64 size)
{
	struct lwkpart_mem request = { .size = size, .node = node, .kind = LWKPART_MEM_CONTIG };
	int error = call(LWKPART_LEND_MEM, &request);

	*start = request.start;
	return error;
}

int lend_block(__u64 start, __u64 size)
{
	struct lwkpart_mem request = {
		.start = start, .size = size, .node = node, .kind = LWKPART_MEM_BLOCK
	};

	return call(LWKPART_LEND_MEM, &request);
}

int return_memory(__u64 start, __u64 size)
{
	struct lwkpart_mem request = { .start = start, .size = size };

	return call(LWKPART_RETURN_MEM, &request);
}

int create(__u32 *instance)
{
	struct lwkpart_create request = { .uid = getuid(), .job_id = JOB };
	int error = call(LWKPART_CREATE, &request);

	*instance = request.instance;
	return error;
}

int assign_cpu(__u32 instance, unsigned int cpu)
{
	struct lwkpart_assign_cpu request = { .instance = instance, .cpu = cpu };

	return call(LWKPART_ASSIGN_CPU, &request);
}

int assign_memory(__u32 instance, __u64 start, __u64 size)
{
	struct lwkpart_assign_mem request = { .instance = instance, .start = start, .size = size };

	return call(LWKPART_ASSIGN_MEM, &request);
}

int load(__u32 instance, const void *image, size_t size)
{
	struct lwkpart_load request = { .instance = instance,
					.image = (unsigned long)image,
					.size = size };

	return call(LWKPART_LOAD, &request);
}

int boot(__u32 instance, unsigned int timeout_ms)
{
	struct lwkpart_boot request = { .instance = instance, .timeout_ms = timeout_ms };

	return call(LWKPART_BOOT, &request);
}

int shut_down(__u32 instance)
{
	struct lwkpart_instance_op request = { .instance = instance };

	return call(LWKPART_SHUTDOWN, &request);
}

int destroy(__u32 instance)
{
	struct lwkpart_instance_op request = { .instance = instance };

	return call(LWKPART_DESTROY, &request);
}

struct lwkpart_instance_info get_instance(__u32 instance)
{
	struct lwkpart_instance_info info = { .instance = instance };

	if (call(LWKPART_GET_INSTANCE, &info))
		info.state = LWK_STATE_COUNT;
	return info;
}

bool has_state(__u32 instance, enum lwk_state state)
{
	return get_instance(instance).state == state;
}

struct lwkpart_info get_info(void)
{
	struct lwkpart_info info = { 0 };

	if (call(LWKPART_GET_INFO, &info))
		bail_out("LWKPART_GET_INFO failed");
	return info;
}

unsigned int get_ledger(void)
{
	struct lwkpart_ledger request = { .entries = (unsigned long)ledger,
					  .capacity = MAX_LEDGER };

	if (call(LWKPART_GET_LEDGER, &request) || request.count > MAX_LEDGER)
		bail_out("LWKPART_GET_LEDGER failed");
	return request.count;
}

int call_instance(int fd, unsigned long command, void *argument)
{
	return ioctl(fd, command, argument) ? errno : 0;
}

bool undo(void)
{
	unsigned int count, i;
	__u64 block, at;

	for (i = 0; i < LWKPART_MAX_INSTANCES; i++)
		destroy(i);
	count = get_ledger();
	block = get_info().block_bytes;
	for (i = 0; i < count; i++) {
		const struct lwkpart_ledger_entry *entry = &ledger[i];

		if (entry->kind == 0) {
			return_cpu(entry->cpu);
			continue;
		}
		return_memory(entry->start, entry->size);
		for (at = entry->start;
		     entry->kind == LWKPART_MEM_BLOCK && at < entry->start + entry->size;
		     at += block)
			set_block(at, "online");
	}
	return get_ledger() == 0 && get_info().instances == 0;
}

void run_bad_calls(struct bad_call *calls, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		check_result(call(calls[i].command, &calls[i].cpu), calls[i].wanted, calls[i].what);
}
