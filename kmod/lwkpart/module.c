// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads and unloads the module: sets its parts up, in order, and takes them down.
 *
 * For some purposes Linux exports no interface: tricks/tricks.c reaches for its internals, no other
 * file. lending/cpu.c, without which no CPU could run an LWK, programs the CPU: a CPU that goes
 * down gets an IDT of its own, INITs and NMIs stop and start it.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include <linux/module.h>

#include "compat/compat.h"
#include "control.h"
#include "instance/orders/doorbell.h"
#include "lending/cpu.h"
#include "lending/ledger.h"
#include "lending/memory.h"
#include "process/device.h"
#include "tricks/tricks.h"

static const struct tricks_hooks hooks = {
	.stop_lent_cpus = cpus_stop_all,
	.nothing_is_lent = ledger_is_empty,
};

/* Words for what this kernel is too old for; lwkctl check reads them. */
static char lacks[] = ""
#ifndef HAVE_VFS_IOCB_ITER_READ
		      "file-calls,"
#endif
#ifndef HAVE_MMU_INTERVAL_NOTIFIER
		      "file-mappings,"
#endif
	;
module_param_string(lacks, lacks, sizeof(lacks), 0444);
MODULE_PARM_DESC(lacks,
		 "tells what this kernel is too old for; slurm-lwk-admin(7) explains the words");

static int __init lwkpart_init(void)
{
	int error = compat_find_functions();

	if (!error)
		error = tricks_init(&hooks);
	if (error)
		goto fail_tricks;
	if (*lacks)
		pr_info("this kernel is too old for %s which slurm-lwk-admin(7) explains\n", lacks);
	/*
	 * User space may put memory blocks off-line, a node's last one too, before the first LEND.
	 */
	trick_keep_cpusets();
	error = cpus_init();
	if (error)
		goto fail;
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
	cpus_exit();
fail:
	tricks_exit();
fail_tricks:
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
	cpus_exit();
	tricks_exit();
}

module_init(lwkpart_init);
module_exit(lwkpart_exit);
MODULE_DESCRIPTION("Lends CPUs and memory to light-weight kernels");
MODULE_AUTHOR("The slurm-lwk authors");
MODULE_VERSION(LWKPART_VERSION);
MODULE_LICENSE("GPL");
