// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hooks in Linux's smp_ops:
 *   play_dead             parks a CPU that is being lent
 *   stop_other_cpus,      Linux wants all CPUs to stop, for a reboot, a kexec, a panic or a crash
 *   crash_stop_other_cpus dump. An LWK that went on would write into memory that the next kernel
 *                         takes for its own, so INIT goes to the lent CPUs first
 *   send_call_func_ipi    keeps Linux's broadcasts away from lent CPUs
 */
#include <linux/cpu.h>
#include <linux/rcupdate.h>
#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/smp.h>

#include "lending/cpu.h"
#include "lending/ledger.h"
#include "lending/smp_ops.h"

static struct smp_ops linux_ops; /* Linux's own, before our hooks */

/* Called on the dying CPU, interrupts off, RCU no longer watching. */
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
 * For a mask of all on-line CPUs Linux uses a broadcast, which also reaches the CPUs
 * that are off-line for Linux: harmless for them, as their local APICs are off, but
 * an LWK's are on, and each code patch or kernel TLB flush of Linux would interrupt it
 * (measured: every LWK CPU took one such interrupt for each of Linux's broadcasts).
 */
static void hook_send_call_func_ipi(const struct cpumask *mask)
{
	if (ledger_is_empty())
		linux_ops.send_call_func_ipi(mask);
	else
		apic->send_IPI_mask(mask, CALL_FUNCTION_VECTOR);
}

/* Hooks come and go while no CPU is on its way up or down, and none is inside one. */
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
