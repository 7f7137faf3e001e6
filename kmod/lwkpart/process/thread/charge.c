// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Charges a proxy with the CPU time and memory that its LWK process uses, so that Slurm's
 * accounting, ps and RLIMIT_CPU see what the program uses, and not a process that sleeps.
 *
 * The figures are read from the LWK's statistics, in the proxy's context, at most once a second.
 * The charges are bounded by the time that has passed and by the memory of the partition, whatever
 * the LWK wrote. The memory does not count when Linux chooses a process to kill for want of memory.
 */
#include "process/thread/charge.h"

#include <linux/mm.h>
#include <linux/notifier.h>
#include <linux/oom.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>
#include <asm/tsc.h>

#include "compat/compat.h"
#include "instance/watch/usage.h"
#include "tricks/tricks.h"

/*
 * Memory is not charged for this long after Linux had none left: Linux chooses what to kill then.
 */
#define UNCHARGED_NS (2 * NSEC_PER_SEC)

/* Protects the list of charges that have a memory map, and those parts of them. Any context. */
static DEFINE_SPINLOCK(charges_lock);
static LIST_HEAD(charges);
static u64 uncharged_until_ns;

/* TSC cycles that a slot has spent in programs, and in the LWK's kernel for them. */
struct spent {
	u64 user, system;
};

static bool read_spent(const struct instance *instance, unsigned int slot, struct spent *spent)
{
	struct lwk_cpu_times times;
	u64 now;

	usage_copy_group(&times, &instance->status->cpu[slot].times, sizeof(times));
	now = rdtsc_ordered();
	if (times.seq & 1)
		return false;
	spent->user = times.tsc[LWK_CPU_USER];
	spent->system = times.tsc[LWK_CPU_SYSTEM];
	if (times.state == LWK_CPU_USER && now > times.since_tsc)
		spent->user += now - times.since_tsc;
	else if (times.state == LWK_CPU_SYSTEM && now > times.since_tsc)
		spent->system += now - times.since_tsc;
	return true;
}

/*
 * Returns the nanoseconds from *done to 'total' (TSC cycles), at most *room, and moves both. The
 * totals come from the LWK. They are bounded before they are multiplied, because
 * mul_u64_u64_div_u64() raises a division error when its quotient exceeds 64 bits.
 */
static u64 take_delta(u64 total, u64 *done, u64 *room)
{
	u64 cycles = total > *done ? total - *done : 0, ns;

	*done = total;
	if (!tsc_khz)
		return 0;
	cycles = min(cycles, mul_u64_u64_div_u64(*room, tsc_khz, NSEC_PER_MSEC));
	ns = min(mul_u64_u64_div_u64(cycles, NSEC_PER_MSEC, tsc_khz), *room);
	*room -= ns;
	return ns;
}

void charge_begin(const struct instance *instance, unsigned int slot, struct charge *charge)
{
	/* If the times cannot be read now, the first charge is 0 and begins there. */
	struct spent spent = { U64_MAX, U64_MAX };

	read_spent(instance, slot, &spent);
	charge->user = spent.user;
	charge->system = spent.system;
	charge->when_ns = ktime_get_ns();
}

/* Nanoseconds that all threads of this process have used, including those that have ended. */
static u64 process_time(void)
{
	const struct task_struct *thread;
	u64 time = current->signal->utime + current->signal->stime;

	rcu_read_lock();
	for_each_thread(current, thread) time += thread->utime + thread->stime;
	rcu_read_unlock();
	return time;
}

/*
 * Enforces RLIMIT_CPU, which Linux does in its tick, and a proxy that sleeps has no ticks. As in
 * check_process_timers() the signals are repeated as long as the process goes on.
 */
static void enforce_cpu_limit(void)
{
	unsigned long hard = rlimit_max(RLIMIT_CPU), soft = rlimit(RLIMIT_CPU);
	u64 seconds = div_u64(process_time(), NSEC_PER_SEC);

	if (seconds >= hard)
		kill_pid(task_tgid(current), SIGKILL, 1);
	else if (seconds >= soft)
		kill_pid(task_tgid(current), SIGXCPU, 1);
}

void charge_cpu_time(struct instance *instance, unsigned int slot, struct charge *charge)
{
	u64 now, room, user, system;
	struct spent spent;

	if (!read_spent(instance, slot, &spent))
		return;
	/*
	 * Read after the times, so that the time the LWK has spent fits into the time that has
	 * passed.
	 */
	now = ktime_get_ns();
	room = now - charge->when_ns;
	user = take_delta(spent.user, &charge->user, &room);
	system = take_delta(spent.system, &charge->system, &room);
	charge->when_ns = now;
	trick_add_cpu_time(user, system);
}

static long bounded_pages(const struct instance *instance, u64 pages)
{
	u64 limit = 0;
	unsigned int i;

	for (i = 0; i < instance->n_mem; i++)
		limit += PHYS_PFN(instance->mem[i].size);
	return min(pages, limit);
}

/* Sets how many pages the memory map is charged with, and was at most. With charges_lock held. */
static void charge_rss(struct charge *charge, long pages, unsigned long peak)
{
	trick_add_memory(charge->mm, pages - charge->rss_pages, peak);
	charge->rss_pages = pages;
}

static void account_memory(struct charge *charge, long pages, unsigned long peak)
{
	spin_lock(&charges_lock);
	if (charge->mm && charge->mm == current->mm)
		charge_rss(charge, ktime_get_ns() < uncharged_until_ns ? 0 : pages, peak);
	spin_unlock(&charges_lock);
}

/*
 * Linux is about to choose a process to kill, because it has no memory left itself. Killing a proxy
 * gives none of the partition's memory back to it, so that memory must not count now.
 */
static int before_kill(struct notifier_block *notifier, unsigned long unused, void *freed)
{
	struct charge *charge;

	spin_lock(&charges_lock);
	uncharged_until_ns = ktime_get_ns() + UNCHARGED_NS;
	list_for_each_entry(charge, &charges, link)
		charge_rss(charge, 0, 0);
	spin_unlock(&charges_lock);
	return NOTIFY_OK;
}

static struct notifier_block kill_notifier = { .notifier_call = before_kill };

int charge_init(void)
{
	return register_oom_notifier(&kill_notifier);
}

void charge_exit(void)
{
	unregister_oom_notifier(&kill_notifier);
}

void charge_memory(const struct instance *instance, unsigned int slot, struct charge *charge)
{
	struct lwk_cpu_memory memory;
	long pages;

	usage_copy_group(&memory, &instance->status->cpu[slot].memory, sizeof(memory));
	if (memory.seq & 1)
		return;
	pages = bounded_pages(instance, memory.pages_4k) +
		bounded_pages(instance, memory.pages_2m) * (PMD_SIZE / PAGE_SIZE);
	account_memory(charge, bounded_pages(instance, pages),
		       bounded_pages(instance, PHYS_PFN(memory.peak_bytes)));
}

void charge_open(struct charge *charge, struct mm_struct *mm)
{
	spin_lock(&charges_lock);
	if (!charge->mm) {
		charge->mm = mm;
		list_add(&charge->link, &charges);
	}
	if (charge->mm == mm)
		charge->windows++;
	spin_unlock(&charges_lock);
}

/* A memory map must have no pages counted when it is destroyed; Linux logs an error otherwise. */
void charge_close(struct charge *charge, struct mm_struct *mm)
{
	spin_lock(&charges_lock);
	if (charge->mm == mm && --charge->windows == 0) {
		charge_rss(charge, 0, 0);
		list_del(&charge->link);
		charge->mm = NULL;
	}
	spin_unlock(&charges_lock);
}

bool charge_is_of(struct charge *charge, const struct mm_struct *mm)
{
	bool is;

	spin_lock(&charges_lock);
	is = mm && charge->mm == mm;
	spin_unlock(&charges_lock);
	return is;
}

void charge_proxy(struct instance *instance, unsigned int slot, struct charge *charge)
{
	if (ktime_get_ns() - charge->when_ns < NSEC_PER_SEC)
		return;
	charge_cpu_time(instance, slot, charge);
	enforce_cpu_limit();
	charge_memory(instance, slot, charge);
}
