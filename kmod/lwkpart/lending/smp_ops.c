// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replaces functions of Linux's smp_ops. Each one does our part, then Linux's:
 *   play_dead              Parks a CPU that is being lent.
 *   stop_other_cpus,       Linux stops all CPUs, for a reboot, a kexec, a panic or a crash dump.
 *   crash_stop_other_cpus  Lent CPUs stop first: an LWK that went on would write into memory that
 *                          the next kernel uses.
 *   send_call_func_ipi     Keeps Linux's broadcasts away from lent CPUs.
 */
#include "lending/smp_ops.h"

#include <linux/cpu.h>
#include <linux/rcupdate.h>
#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/smp.h>

#include "lending/cpu.h"
#include "lending/ledger.h"

static struct smp_ops linux_ops; /* as they were before smp_ops_hook() */

/* Runs on the CPU that goes down, with interrupts off; RCU no longer watches. */
static void notrace hook_play_dead(void)
{
	cpu_prepare_parking();
	linux_ops.play_dead();
}

static void hook_stop_other_cpus(int wait)
{
	cpus_stop_all();
	linux_ops.stop_other_cpus(wait);
}

static void hook_crash_stop_other_cpus(void)
{
	cpus_stop_all();
	linux_ops.crash_stop_other_cpus();
}

/*
 * For a mask of all on-line CPUs Linux sends a broadcast, which also reaches CPUs that are
 * off-line for Linux. Their local APICs are usually off, but those of LWK CPUs are on: each code
 * patch and each kernel TLB flush of Linux would interrupt every LWK CPU once.
 */
static void hook_send_call_func_ipi(const struct cpumask *mask)
{
	if (ledger_is_empty())
		linux_ops.send_call_func_ipi(mask);
	else
		apic->send_IPI_mask(mask, CALL_FUNCTION_VECTOR);
}

/* Under cpus_read_lock() no CPU goes up or down; afterwards none is in an old function. */
void smp_ops_hook(void)
{
	cpus_read_lock();
	linux_ops = smp_ops;
	smp_ops.play_dead = hook_play_dead;
	smp_ops.stop_other_cpus = hook_stop_other_cpus;
	if (linux_ops.crash_stop_other_cpus)
		smp_ops.crash_stop_other_cpus = hook_crash_stop_other_cpus;
	smp_ops.send_call_func_ipi = hook_send_call_func_ipi;
	cpus_read_unlock();
	synchronize_rcu();
}

void smp_ops_unhook(void)
{
	cpus_read_lock();
	smp_ops = linux_ops;
	cpus_read_unlock();
	synchronize_rcu();
}
