// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each trick below says what it is for, which way upstream it stands for, and what is missing
 * without it.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include "tricks/tricks.h"

#include <linux/cgroup.h>
#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/cputime.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/apic.h>
#ifdef CONFIG_X86_KERNEL_IBT
#include <asm/ibt.h>
#endif
#include <asm/invpcid.h>
#include <asm/irq_vectors.h>
#include <asm/smp.h>
#include <asm/tlbflush.h>

enum trick { CALLS, CRASH_STOP, BROADCASTS, CPUSETS, TLB_FLUSH, CPU_TIME, MEMORY, N_TRICKS };

static struct {
	const char *name, *without;
	bool off;
} tricks[] = {
	[CALLS] = { "calls", "proxies make all delegated calls themselves, which takes longer" },
	[CRASH_STOP] = { "crash-stop", "an LWK goes on while Linux crashes into a kdump kernel" },
	[BROADCASTS] = { "broadcasts", "Linux's IPIs to all CPUs interrupt LWK CPUs" },
	[CPUSETS] = { "cpusets",
		      "with cgroup version 1 LWK jobs fail, unless cpusets were mounted with cpuset_v2_mode" },
	[TLB_FLUSH] = { "tlb-flush",
			"adaptive migration takes some pages that are in use for unused" },
	[CPU_TIME] = { "cpu-time",
		       "Linux and Slurm's accounting do not see the CPU time of LWK programs, "
		       "and RLIMIT_CPU does not end them" },
	[MEMORY] = { "memory",
		     "Linux and Slurm's accounting do not see the memory of LWK programs" },
};

/*
 * The administrator sets the names of tricks to turn off; tricks_init() makes it all that are off.
 */
static char tricks_off[128];
module_param_string(tricks_off, tricks_off, sizeof(tricks_off), 0444);
MODULE_PARM_DESC(
	tricks_off,
	"uses of Linux's internals to do without, separated by commas: calls, crash-stop, broadcasts, cpusets, tlb-flush, cpu-time, memory; slurm-lwk-admin(7) explains them");

static const struct tricks_hooks *hooks;

static bool is_on(enum trick trick)
{
	return !tricks[trick].off;
}

/* This kernel does not allow it. */
static void give_up(enum trick trick, const char *why)
{
	if (is_on(trick))
		pr_warn("%s, so the trick \"%s\" is off: %s\n", why, tricks[trick].name,
			tricks[trick].without);
	tricks[trick].off = true;
}

/* ---- calls ---- */

/*
 * Returns where an indirect call of a function must arrive, or NULL. With IBT this is its ENDBR,
 * behind which a kprobe is put; Linux removes the ENDBR of a function that it never calls by a
 * pointer.
 */
static void *find_entry(void *probed)
{
#ifdef CONFIG_X86_KERNEL_IBT
	const u32 *code = probed;

	if (*code == gen_endbr())
		return probed;
	return code[-1] == gen_endbr() ? probed - sizeof(*code) : NULL;
#else
	return probed;
#endif
}

/*
 * The functions of system calls, to carry them out for a proxy without a return to user space.
 * Modules cannot link with them; a kprobe that is never enabled finds each by its name.
 */
trick_call trick_find_call(const char *symbol)
{
	struct kprobe probe = { .symbol_name = symbol, .flags = KPROBE_FLAG_DISABLED };
	void *entry = NULL;

	if (!is_on(CALLS))
		return NULL;
	if (!register_kprobe(&probe)) {
		entry = find_entry(probe.addr);
		unregister_kprobe(&probe);
	}
	if (!entry)
		pr_info("cannot find %s() in this kernel: proxies make those calls themselves, which takes longer\n",
			symbol);
	return entry;
}

static void check_calls(void)
{
	/*
	 * An indirect call would arrive at a check of its type, which this module is not built for.
	 */
	if (IS_ENABLED(CONFIG_FINEIBT))
		give_up(CALLS, "this kernel uses FineIBT");
	else if (!IS_ENABLED(CONFIG_KPROBES))
		give_up(CALLS, "this kernel has no kprobes");
}

/* ---- crash-stop, broadcasts ---- */

/*
 * Two functions of smp_ops, the table of what a hypervisor may do differently. Each one does our
 * part, then Linux's:
 *   crash_stop_other_cpus  Before a crash dump lent CPUs stop first: an LWK that went on would
 *                          write into memory that the next kernel uses. No notifier runs that
 *                          early.
 *   send_call_func_ipi     Keeps Linux's broadcasts away from lent CPUs.
 */
static struct smp_ops linux_ops; /* as they were before hook_smp_ops() */

static void hook_crash_stop_other_cpus(void)
{
	hooks->stop_lent_cpus();
	linux_ops.crash_stop_other_cpus();
}

/*
 * For a mask of all on-line CPUs Linux sends a broadcast, which also reaches CPUs that are
 * off-line for Linux. Their local APICs are usually off, but those of LWK CPUs are on: each code
 * patch and each kernel TLB flush of Linux would interrupt every LWK CPU once.
 */
static void hook_send_call_func_ipi(const struct cpumask *mask)
{
	if (hooks->nothing_is_lent())
		linux_ops.send_call_func_ipi(mask);
	else
		apic->send_IPI_mask(mask, CALL_FUNCTION_VECTOR);
}

/* Under cpus_read_lock() no CPU goes up or down; afterwards none is in an old function. */
static void hook_smp_ops(void)
{
	if (!smp_ops.crash_stop_other_cpus)
		give_up(CRASH_STOP, "this kernel makes no crash dumps by smp_ops");
	if (!smp_ops.send_call_func_ipi)
		give_up(BROADCASTS, "this kernel sends no IPIs by smp_ops");
	cpus_read_lock();
	linux_ops = smp_ops;
	if (is_on(CRASH_STOP))
		smp_ops.crash_stop_other_cpus = hook_crash_stop_other_cpus;
	if (is_on(BROADCASTS))
		smp_ops.send_call_func_ipi = hook_send_call_func_ipi;
	cpus_read_unlock();
	synchronize_rcu();
}

static void unhook_smp_ops(void)
{
	cpus_read_lock();
	smp_ops.crash_stop_other_cpus = linux_ops.crash_stop_other_cpus;
	smp_ops.send_call_func_ipi = linux_ops.send_call_func_ipi;
	cpus_read_unlock();
	synchronize_rcu();
}

/* ---- cpusets ---- */

/*
 * Keeps lent CPUs in the cpusets they are in. A version 1 cpuset hierarchy, as distributions
 * mount it, removes a CPU that goes off-line from every cpuset for good, and refuses to write
 * the number of an off-line CPU: jobs that begin during or after an LWK job would fail. With the
 * mount option cpuset_v2_mode cpusets keep what was written into them, and only their effective
 * CPUs change. But the option counts only for the first mount, before there are any cpusets.
 *
 * The mode is one flag of the hierarchy, which the kernel reads wherever it matters
 * (is_in_v2_mode() in kernel/cgroup/cpuset.c). A mount with the option sets the flag and calls
 * the controller's bind(), which opens the root cpuset to all possible CPUs and nodes. This
 * does the same with a hierarchy that is mounted already. A mount holds cgroup_mutex meanwhile,
 * which modules cannot take: bind() itself takes the locks of cpusets, and get_hierarchy() a
 * reference.
 *
 * The mode stays until the hierarchy is unmounted, also after the module has left. Cpusets in
 * this mode may hold CPUs that are off-line, which the other mode treats as a bug (WARN_ON() in
 * update_cpumasks_hier()); and hotplug work that is queued at that moment, for a memory block
 * perhaps, would remove the lent CPUs, because no lock that a module can take excludes it.
 */
#ifdef CONFIG_CPUSETS
/* The version 1 hierarchy of the cpusets, with a reference; or NULL. */
static struct cgroup_root *get_hierarchy(void)
{
	struct cgroup_root *root;

	rcu_read_lock();
	root = task_css(current, cpuset_cgrp_id)->cgroup->root;
	if (root == &cgrp_dfl_root || !cgroup_tryget(&root->cgrp))
		root = NULL;
	rcu_read_unlock();
	return root;
}

static void set_flag(struct cgroup_root *root)
{
	unsigned int flags, with;

	/* A remount may write other flags of the same word meanwhile. */
	do {
		flags = READ_ONCE(root->flags);
		with = flags | CGRP_ROOT_CPUSET_V2_MODE;
	} while (flags != with && cmpxchg(&root->flags, flags, with) != flags);
	if (flags != with)
		pr_info("the cpuset hierarchy is in cpuset_v2_mode from now on, so that lent CPUs and memory nodes stay in their cpusets\n");
}

void trick_keep_cpusets(void)
{
	struct cgroup_root *root = get_hierarchy();
	struct cgroup_subsys_state *css;

	if (!root)
		return;
	/* The root's is never freed. NULL: the controller is on its way to another hierarchy. */
	css = rcu_access_pointer(root->cgrp.subsys[cpuset_cgrp_id]);
	if (css && !is_on(CPUSETS)) {
		if (!(READ_ONCE(root->flags) & CGRP_ROOT_CPUSET_V2_MODE))
			pr_warn_once(
				"expected cpusets that keep CPUs which are lent, found a hierarchy without cpuset_v2_mode; mount it so at boot, boot with cgroup version 2, or take cpusets out of tricks_off=\n");
	} else if (css) {
		set_flag(root);
		/*
		 * The root is bound also if it had the flag: earlier hotplug may have narrowed it.
		 */
		css->ss->bind(css);
	}
	cgroup_put(&root->cgrp);
}
#else
void trick_keep_cpusets(void)
{
}
#endif

/* ---- tlb-flush ---- */

/*
 * A CPU does not set an Accessed bit again while it has the translation in its TLB. Linux's
 * flush_tlb_mm() and, in newer kernels, __flush_tlb_all() are not for modules; this does the same,
 * as long as all CPUs compare tlb_gen.
 */
static void flush_this_cpu(void *unused)
{
	unsigned long flags, cr4;

	if (boot_cpu_has(X86_FEATURE_INVPCID)) {
		invpcid_flush_all();
		return;
	}
	local_irq_save(flags);
	cr4 = native_read_cr4();
	asm volatile("movq %0, %%cr4" ::"r"(cr4 ^ X86_CR4_PGE) : "memory");
	asm volatile("movq %0, %%cr4" ::"r"(cr4) : "memory");
	local_irq_restore(flags);
}

void trick_flush_tlb(struct mm_struct *mm)
{
	if (!is_on(TLB_FLUSH))
		return;
	/* CPUs that do not use this address space now compare tlb_gen when they come back to it. */
	atomic64_inc(&mm->context.tlb_gen);
	preempt_disable();
	smp_call_function_many(mm_cpumask(mm), flush_this_cpu, NULL, true);
	if (cpumask_test_cpu(smp_processor_id(), mm_cpumask(mm)))
		flush_this_cpu(NULL);
	preempt_enable();
}

static void check_tlb_flush(void)
{
#ifdef X86_FEATURE_INVLPGB
	if (boot_cpu_has(X86_FEATURE_INVLPGB))
		give_up(TLB_FLUSH, "this kernel flushes by INVLPGB, without tlb_gen");
#endif
}

/* ---- cpu-time ---- */

/*
 * Adds to the caller's times as Linux's tick does, which must not come in between. A module has no
 * function for it. Another CPU that wakes a task here may add to sum_exec_runtime at the same time,
 * under a lock that modules cannot take. Then one of the two additions is lost, which is rare and
 * harmless.
 */
void trick_add_cpu_time(u64 user, u64 system)
{
	if (!is_on(CPU_TIME))
		return;
	local_irq_disable();
	current->utime += user;
	current->stime += system;
	current->se.sum_exec_runtime += user + system;
	account_group_user_time(current, user);
	account_group_system_time(current, system);
	account_group_exec_runtime(current, user + system);
	local_irq_enable();
}

/* ---- memory ---- */

/* The counters of a memory map; add_mm_counter() calls a function that is not exported. */
void trick_add_memory(struct mm_struct *mm, long pages, unsigned long peak)
{
	if (!is_on(MEMORY))
		return;
#ifdef HAVE_RSS_STAT_PERCPU
	percpu_counter_add(&mm->rss_stat[MM_SHMEMPAGES], pages);
#else
	atomic_long_add(pages, &mm->rss_stat.count[MM_SHMEMPAGES]);
#endif
	if (mm->hiwater_rss < peak)
		mm->hiwater_rss = peak;
}

/* ---- turning them off ---- */

static int turn_off(const char *name)
{
	enum trick i;

	for (i = 0; i < N_TRICKS; i++) {
		if (strcmp(name, tricks[i].name) == 0) {
			tricks[i].off = true;
			pr_info("the trick \"%s\" is turned off: %s\n", name, tricks[i].without);
			return 0;
		}
	}
	pr_err("tricks_off: expected names of tricks separated by commas, found \"%s\"; see slurm-lwk-admin(7)\n",
	       name);
	return -EINVAL;
}

static int read_parameter(void)
{
	char copy[sizeof(tricks_off)], *rest = copy, *name;
	int error;

	strscpy(copy, tricks_off, sizeof(copy));
	while ((name = strsep(&rest, ", \n"))) {
		error = *name ? turn_off(name) : 0;
		if (error)
			return error;
	}
	return 0;
}

static void write_parameter(void)
{
	size_t length = 0;
	enum trick i;

	for (i = 0; i < N_TRICKS; i++)
		if (!is_on(i))
			length += scnprintf(tricks_off + length, sizeof(tricks_off) - length,
					    "%s%s", length ? "," : "", tricks[i].name);
	tricks_off[length] = '\0';
}

int tricks_init(const struct tricks_hooks *use)
{
	int error = read_parameter();

	if (error)
		return error;
	hooks = use;
	check_calls();
	check_tlb_flush();
	hook_smp_ops();
	write_parameter();
	return 0;
}

void tricks_exit(void)
{
	unhook_smp_ops();
}
