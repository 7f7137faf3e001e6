// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests CREATE, DESTROY, ASSIGN_CPU, ASSIGN_MEM and CONFINE, and requests for no instance.
 */
#include <errno.h>
#include <string.h>

#include "abi.h"

void test_bad_instance(void)
{
	struct bad_call calls[] = {
		{ "CREATE with a flag", LWKPART_CREATE, EINVAL, .create = { .flags = 4 } },
		{ "CREATE for user -1", LWKPART_CREATE, EINVAL, .create = { .uid = -1U } },
		{ "DESTROY with a flag", LWKPART_DESTROY, EINVAL, .op = { 0, 1 } },
		{ "DESTROY of no instance", LWKPART_DESTROY, ENOENT, .op = { 0 } },
		{ "DESTROY of instance 64", LWKPART_DESTROY, ENOENT, .op = { 64 } },
		{ "DESTROY of instance -1", LWKPART_DESTROY, ENOENT, .op = { -1U } },
		{ "SHUTDOWN with a flag", LWKPART_SHUTDOWN, EINVAL, .op = { 0, 1 } },
		{ "SHUTDOWN of no instance", LWKPART_SHUTDOWN, ENOENT, .op = { 0 } },
		{ "ASSIGN_CPU with a flag", LWKPART_ASSIGN_CPU, EINVAL,
		  .assign_cpu = { .flags = 1 } },
		{ "ASSIGN_CPU to no instance", LWKPART_ASSIGN_CPU, ENOENT, .assign_cpu = { 0 } },
		{ "ASSIGN_MEM with a flag", LWKPART_ASSIGN_MEM, EINVAL,
		  .assign_mem = { .flags = 1 } },
		{ "ASSIGN_MEM to no instance", LWKPART_ASSIGN_MEM, ENOENT, .assign_mem = { 0 } },
		{ "LOAD with a flag", LWKPART_LOAD, EINVAL, .load = { .flags = 1 } },
		{ "LOAD into no instance", LWKPART_LOAD, ENOENT, .load = { 0 } },
		{ "BOOT with a reserved field", LWKPART_BOOT, EINVAL,
		  .boot = { .timeout_ms = 1, .reserved = { 0, 1 } } },
		{ "BOOT without a time-out", LWKPART_BOOT, EINVAL, .boot = { 0 } },
		{ "BOOT with a time-out of 49 days", LWKPART_BOOT, EINVAL,
		  .boot = { .timeout_ms = -1U } },
		{ "BOOT of no instance", LWKPART_BOOT, ENOENT, .boot = { .timeout_ms = 1 } },
		{ "GET_INSTANCE of no instance", LWKPART_GET_INSTANCE, ENOENT, .info = { 0 } },
		{ "GET_LEDGER with a reserved field", LWKPART_GET_LEDGER, EINVAL,
		  .ledger = { .reserved = 1 } },
		{ "KMSG with a flag", LWKPART_KMSG, EINVAL, .kmsg = { .flags = 1 } },
		{ "KMSG of no instance", LWKPART_KMSG, ENOENT, .kmsg = { 0 } },
		{ "HANG_LIMIT of less than a second", LWKPART_HANG_LIMIT, EINVAL,
		  .hang_limit = { .limit_ms = 999 } },
		{ "HANG_LIMIT of no instance", LWKPART_HANG_LIMIT, ENOENT,
		  .hang_limit = { .limit_ms = 1000 } },
		{ "DUMP_LAYOUT of no instance", LWKPART_DUMP_LAYOUT, ENOENT, .dump_layout = { 0 } },
		{ "DUMP of no instance", LWKPART_DUMP, ENOENT, .dump = { 0 } },
		{ "DUMP of more than 1 MB", LWKPART_DUMP, EINVAL,
		  .dump = { .size = LWKPART_MAX_DUMP + 1 } },
		{ "DUMP with a reserved field", LWKPART_DUMP, EINVAL, .dump = { .reserved = 1 } },
		{ "CONFINE with a reserved field", LWKPART_CONFINE, EINVAL,
		  .confine = { .reserved = 1 } },
		{ "CONFINE to more cgroups than can be", LWKPART_CONFINE, EINVAL,
		  .confine = { .count = LWKPART_MAX_GROUPS + 1 } },
		{ "CONFINE to -1 cgroups", LWKPART_CONFINE, EINVAL, .confine = { .count = -1U } },
		{ "CONFINE of no instance", LWKPART_CONFINE, ENOENT, .confine = { 0 } },
	};
	struct bad_call endless = { "BOOT with an endless command line", LWKPART_BOOT, EINVAL,
				    .boot = { .timeout_ms = 1 } };

	memset(endless.boot.cmdline, 'a', sizeof(endless.boot.cmdline));
	RUN_BAD_CALLS(calls);
	run_bad_calls(&endless, 1);
}

void test_instances(void)
{
	__u32 instance, last, i;

	check(!create(&last) && !destroy(last) && !create(&instance) && instance != last,
	      "the number of an instance that was destroyed is not used again at once");
	for (i = 1; i < LWKPART_MAX_INSTANCES && !create(&instance); i++)
		;
	check(i == LWKPART_MAX_INSTANCES, "%u instances can be made", i);
	check_result(create(&instance), ENOSPC, "CREATE of one more");
	check(get_info().instances == LWKPART_MAX_INSTANCES, "GET_INFO counts them");
	check_result(destroy(5), 0, "DESTROY of one");
	check(!create(&instance) && instance == 5,
	      "its number is used again when no other is free");
	check(has_state(5, LWK_STATE_CREATED), "a new instance is CREATED");
	check_result(load(5, "", 1), EBUSY, "LOAD into an instance that has nothing");
	check_result(boot(5, 1), EBUSY, "BOOT of an instance that has nothing");
	check_result(shut_down(5), 0, "SHUTDOWN of an instance that has nothing");
	check_result(assign_cpu(5, cpu_a), EBUSY, "ASSIGN_CPU to an instance that is shut down");
	check(undo(), "all of them can be destroyed");
}

void test_doorbell_cpu(void)
{
	struct lwkpart_assign_cpu request = { .cpu = cpu_a };
	__u32 instance;

	check(!create(&instance) && !lend_cpu(cpu_a), "an instance is made and a CPU lent");
	request.instance = instance;
	request.doorbell_cpu = cpu_a;
	check_result(call(LWKPART_ASSIGN_CPU, &request), EINVAL,
		     "ASSIGN_CPU with doorbells to a CPU that is off-line");
	request.doorbell_cpu = -1U;
	check_result(call(LWKPART_ASSIGN_CPU, &request), EINVAL,
		     "ASSIGN_CPU with doorbells to CPU -1");
	check_result(assign_cpu(instance, cpu_a), 0, "ASSIGN_CPU");
	check_result(load(instance, "", 1), ENOMEM, "LOAD into an instance without memory");
	check(undo(), "all is undone");
}

void test_bad_assign(const struct partition *partition)
{
	__u32 other;

	if (!check_result(create(&other), 0, "CREATE of a second instance"))
		return;
	check_result(assign_cpu(other, cpu_a), EBUSY, "ASSIGN_CPU of a CPU that has an owner");
	check_result(assign_cpu(other, 0), ENOENT, "ASSIGN_CPU of a CPU that is not lent");
	check_result(assign_memory(other, partition->contig, CONTIG_BYTES), EBUSY,
		     "ASSIGN_MEM of a range that has an owner");
	check_result(assign_memory(other, partition->contig, CONTIG_BYTES / 2), ENOENT,
		     "ASSIGN_MEM of half a range");
	check_result(return_cpu(cpu_a), EBUSY, "RETURN_CPU of a CPU that has an owner");
	check_result(return_memory(partition->contig, CONTIG_BYTES), EBUSY,
		     "RETURN_MEM of a range that has an owner");
	check_result(destroy(other), 0, "DESTROY of the second instance");
}

void test_confine(void)
{
	struct lwkpart_confine request = { .count = 1, .fds = { -1 } };

	check_result(create(&request.instance), 0, "CREATE");
	check_result(call(LWKPART_CONFINE, &request), EBADF, "CONFINE to no file");
	request.fds[0] = device;
	check_result(call(LWKPART_CONFINE, &request), EINVAL, "CONFINE to a file of no cgroup");
	request.count = 0;
	check_result(call(LWKPART_CONFINE, &request), 0, "CONFINE to nothing");
	check_result(destroy(request.instance), 0, "DESTROY");
}
