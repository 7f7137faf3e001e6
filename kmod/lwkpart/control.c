// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /dev/lwkpart: each ioctl is a row of a table. This file copies its argument in, checks it, and
 * copies it out; other files do the work.
 */
#include "control.h"

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/memory.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "abi/control/device.h"
#include "abi/control/dump.h"
#include "abi/control/instance.h"
#include "abi/control/kmsg.h"
#include "abi/control/ledger.h"
#include "abi/control/pages.h"
#include "compat/compat.h"
#include "instances.h"
#include "lending/cpu.h"
#include "lending/ledger.h"
#include "lending/memory.h"
#include "pages/move.h"
#include "pages/scan.h"

/* The longest time-out that LWKPART_BOOT accepts: ten minutes. */
#define MAX_BOOT_MS (10 * 60 * 1000U)

union argument {
	struct lwkpart_info info;
	struct lwkpart_cpu cpu;
	struct lwkpart_mem mem;
	struct lwkpart_create create;
	struct lwkpart_assign_cpu assign_cpu;
	struct lwkpart_assign_mem assign_mem;
	struct lwkpart_load load;
	struct lwkpart_boot boot;
	struct lwkpart_instance_op op;
	struct lwkpart_instance_info instance_info;
	struct lwkpart_ledger ledger;
	struct lwkpart_kmsg kmsg;
	struct lwkpart_hang_limit hang_limit;
	struct lwkpart_scan scan;
	struct lwkpart_move move;
	struct lwkpart_dump_layout dump_layout;
	struct lwkpart_dump dump;
	struct lwkpart_confine confine;
};

static int ioctl_get_info(union argument *argument)
{
	struct lwkpart_info *info = &argument->info;

	info->abi_version = LWKPART_ABI_VERSION;
	info->instances = instance_count();
	info->block_bytes = memory_block_size_bytes();
	ledger_count(info);
	return 0;
}

static int ioctl_lend_cpu(union argument *argument)
{
	return argument->cpu.flags ? -EINVAL : cpu_lend(argument->cpu.cpu);
}

static int ioctl_return_cpu(union argument *argument)
{
	return argument->cpu.flags ? -EINVAL : cpu_return(argument->cpu.cpu);
}

static int ioctl_lend_mem(union argument *argument)
{
	return argument->mem.reserved ? -EINVAL : memory_lend(&argument->mem);
}

static int ioctl_return_mem(union argument *argument)
{
	return argument->mem.reserved ? -EINVAL : memory_return(&argument->mem);
}

static int ioctl_create(union argument *argument)
{
	return instance_create(&argument->create);
}

static int ioctl_destroy(union argument *argument)
{
	return argument->op.flags ? -EINVAL : instance_destroy(argument->op.instance);
}

static int ioctl_assign_cpu(union argument *argument)
{
	return argument->assign_cpu.flags ? -EINVAL : instance_assign_cpu(&argument->assign_cpu);
}

static int ioctl_assign_mem(union argument *argument)
{
	return argument->assign_mem.flags ? -EINVAL : instance_assign_memory(&argument->assign_mem);
}

static int ioctl_load(union argument *argument)
{
	return argument->load.flags ? -EINVAL : instance_load(&argument->load);
}

static int ioctl_boot(union argument *argument)
{
	const struct lwkpart_boot *request = &argument->boot;

	if (request->reserved[0] || request->reserved[1] || !request->timeout_ms ||
	    request->timeout_ms > MAX_BOOT_MS ||
	    strnlen(request->cmdline, sizeof(request->cmdline)) == sizeof(request->cmdline))
		return -EINVAL;
	return instance_boot(request);
}

static int ioctl_shutdown(union argument *argument)
{
	return argument->op.flags ? -EINVAL : instance_shutdown(argument->op.instance);
}

static int ioctl_get_instance(union argument *argument)
{
	struct lwkpart_instance_info *request = &argument->instance_info;
	u32 id = request->instance;

	/* All other fields are outputs, whatever the caller left in them. */
	memset(request, 0, sizeof(*request));
	request->instance = id;
	return instance_info(request);
}

static int ioctl_get_ledger(union argument *argument)
{
	return argument->ledger.reserved ? -EINVAL : ledger_copy(&argument->ledger);
}

static int ioctl_kmsg(union argument *argument)
{
	if (argument->kmsg.flags)
		return -EINVAL;
	argument->kmsg.length = 0;
	return instance_kmsg(&argument->kmsg);
}

static int ioctl_hang_limit(union argument *argument)
{
	if (argument->hang_limit.limit_ms < MSEC_PER_SEC)
		return -EINVAL;
	return instance_hang_limit(&argument->hang_limit);
}

static int ioctl_scan(union argument *argument)
{
	return scan_pages(&argument->scan);
}

static int ioctl_move(union argument *argument)
{
	return move_pages_of(&argument->move);
}

static int ioctl_dump_layout(union argument *argument)
{
	struct lwkpart_dump_layout *request = &argument->dump_layout;
	u32 id = request->instance, job_id = request->job_id;

	memset(request, 0, sizeof(*request));
	request->instance = id;
	request->job_id = job_id;
	return instance_dump_layout(request);
}

static int ioctl_dump(union argument *argument)
{
	if (argument->dump.reserved || argument->dump.size > LWKPART_MAX_DUMP)
		return -EINVAL;
	return instance_dump(&argument->dump);
}

static int ioctl_confine(union argument *argument)
{
	const struct lwkpart_confine *request = &argument->confine;

	if (request->reserved || request->count > LWKPART_MAX_GROUPS)
		return -EINVAL;
	return instance_confine(request);
}

struct operation {
	unsigned int command;
	int (*run)(union argument *argument);
	bool locks_itself;
};

static const struct operation operations[] = {
	{ LWKPART_GET_INFO, ioctl_get_info },
	{ LWKPART_LEND_CPU, ioctl_lend_cpu },
	{ LWKPART_RETURN_CPU, ioctl_return_cpu },
	{ LWKPART_LEND_MEM, ioctl_lend_mem },
	{ LWKPART_RETURN_MEM, ioctl_return_mem },
	{ LWKPART_CREATE, ioctl_create },
	{ LWKPART_DESTROY, ioctl_destroy, .locks_itself = true },
	{ LWKPART_ASSIGN_CPU, ioctl_assign_cpu },
	{ LWKPART_ASSIGN_MEM, ioctl_assign_mem },
	{ LWKPART_LOAD, ioctl_load },
	{ LWKPART_BOOT, ioctl_boot, .locks_itself = true },
	{ LWKPART_SHUTDOWN, ioctl_shutdown, .locks_itself = true },
	{ LWKPART_GET_INSTANCE, ioctl_get_instance },
	{ LWKPART_GET_LEDGER, ioctl_get_ledger },
	{ LWKPART_KMSG, ioctl_kmsg, .locks_itself = true },
	{ LWKPART_HANG_LIMIT, ioctl_hang_limit },
	{ LWKPART_SCAN, ioctl_scan, .locks_itself = true },
	{ LWKPART_MOVE, ioctl_move, .locks_itself = true },
	{ LWKPART_DUMP_LAYOUT, ioctl_dump_layout, .locks_itself = true },
	{ LWKPART_DUMP, ioctl_dump, .locks_itself = true },
	{ LWKPART_CONFINE, ioctl_confine },
};

static int run(const struct operation *operation, union argument *argument)
{
	int error;

	if (operation->locks_itself)
		return operation->run(argument);
	if (mutex_lock_killable(&lwkpart_mutex))
		return -EINTR;
	error = operation->run(argument);
	mutex_unlock(&lwkpart_mutex);
	return error;
}

static long control_ioctl(struct file *file, unsigned int command, unsigned long address)
{
	void __user *user = (void __user *)address;
	size_t i, size = _IOC_SIZE(command);
	union argument argument;
	int error;

	/* The open file may have been passed to a process that could not have opened it. */
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	for (i = 0; i < ARRAY_SIZE(operations) && operations[i].command != command; i++)
		;
	if (i == ARRAY_SIZE(operations))
		return -ENOTTY;
	memset(&argument, 0, sizeof(argument));
	if ((_IOC_DIR(command) & _IOC_WRITE) && copy_from_user(&argument, user, size))
		return -EFAULT;
	/* An unwritable argument must be an error before anything is done. */
	if ((_IOC_DIR(command) & _IOC_READ) && copy_to_user(user, &argument, size))
		return -EFAULT;
	error = run(&operations[i], &argument);
	if (error)
		return error;
	if ((_IOC_DIR(command) & _IOC_READ) && copy_to_user(user, &argument, size))
		return -EFAULT;
	return 0;
}

static const struct file_operations control_operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = control_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice control_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "lwkpart",
	.fops = &control_operations,
	.mode = 0600,
};

int control_init(void)
{
	return misc_register(&control_device);
}

void control_exit(void)
{
	misc_deregister(&control_device);
}
