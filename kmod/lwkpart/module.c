// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads and unloads the module: sets its parts up, in order, and takes them down.
 *
 * For some purposes Linux exports no interface. These files reach for its internals, no others:
 *   lending/smp_ops.c  replaces functions of smp_ops
 *   lending/cpu.c      gives a CPU that goes down its own IDT; sends INITs and NMIs
 *   lending/cpuset.c   sets a flag of the cpuset hierarchy and calls the controller's bind()
 *   pages/scan.c       flushes the TLBs of a process by its tlb_gen
 *   process/calls.c    finds system calls by kprobes
 *   process/charge.c   adds to the times and to the memory counters of a task
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include <linux/module.h>

#include "control.h"
#include "instance/doorbell.h"
#include "lending/cpu.h"
#include "lending/cpuset.h"
#include "lending/memory.h"
#include "lending/smp_ops.h"
#include "process/device.h"

static int __init lwkpart_init(void)
{
	int error;

	/* User space may put memory blocks off-line, a node's last one too, before the first LEND. */
	cpusets_keep_lent();
	error = cpus_init();
	if (error)
		goto fail;
	smp_ops_hook();
	error = memory_init();
	if (error)
		goto fail_memory;
	error = doorbell_init();
	if (error)
		goto fail_doorbell;
	error = instance_devices_init();
	if (error)
		goto fail_devices;
	error = control_init();
	if (error)
		goto fail_control;
	return 0;

fail_control:
	instance_devices_exit();
fail_devices:
	doorbell_exit();
fail_doorbell:
	memory_exit();
fail_memory:
	smp_ops_unhook();
	cpus_exit();
fail:
	pr_err("the module could not be set up (error %d); see the messages above\n", error);
	return error;
}

/* Lent CPUs and memory, and instances, hold the module: none exists here. */
static void __exit lwkpart_exit(void)
{
	control_exit();
	instance_devices_exit();
	doorbell_exit();
	memory_exit();
	smp_ops_unhook();
	cpus_exit();
}

module_init(lwkpart_init);
module_exit(lwkpart_exit);
MODULE_DESCRIPTION("Lends CPUs and memory to light-weight kernels");
MODULE_AUTHOR("The slurm-lwk authors");
MODULE_VERSION(LWKPART_VERSION);
MODULE_LICENSE("GPL");
