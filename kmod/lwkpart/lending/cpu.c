// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes CPUs from Linux, parks them, starts an LWK on them and stops it again.
 *
 * Linux's own hot-unplug takes a CPU down. On the way our hotplug callback gives the CPU a
 * private copy of the IDT with our NMI handler in it; then Linux's play_dead() goes on, so that
 * Linux sees an ordinary dead CPU. An NMI makes the CPU run an LWK (park.S). An INIT IPI stops it:
 * after an INIT a processor executes nothing until a start-up IPI comes (SDM vol. 3,
 * "Multiple-Processor (MP) Initialization"), and Linux's add_cpu() sends that one. To be parked
 * again such a CPU goes that way up but not to its end: half-way our callback refuses, and Linux
 * takes the CPU down again, through play_dead().
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include "lending/cpu.h"

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/reboot.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <asm/apic.h>
#include <asm/desc.h>
#include <asm/io.h>
#include <asm/processor.h>
#include <asm/special_insns.h>

#include "compat/compat.h"
#include "lending/ledger.h"
#include "lending/park.h"
#include "tricks/tricks.h"

/* Flexible Return and Event Delivery; with it exceptions do not go through the IDT. */
#define CR4_FRED BIT_ULL(32)

/* A real machine takes microseconds, an emulator about 1.3 ms. */
#define NMI_TIMEOUT (5 * HZ)

/* The state of a CPU between Linux and an LWK. */
enum seat {
	SEAT_LINUX = 0, /* in Linux */
	SEAT_TAKING,	/* on its way down, where our callback parks it */
	SEAT_AGAIN,	/* on its way up, where our callback makes it go down again */
	SEAT_PARKED,	/* waits for an NMI */
	SEAT_STARTED,	/* runs an LWK */
	SEAT_STOPPED,	/* got an INIT; only a way through Linux parks it again */
};

/* Each lent CPU has one, on its NUMA node. */
struct park_area {
	union {
		gate_desc idt[IDT_ENTRIES];
		u8 idt_bytes[PARK_IDT_BYTES];
	};
	struct park_mailbox mailbox;
	enum seat seat;
};

static_assert(offsetof(struct park_area, mailbox) == PARK_IDT_BYTES);
static_assert(offsetof(struct park_mailbox, go) == PARK_GO);
static_assert(offsetof(struct park_mailbox, gone) == PARK_GONE);
static_assert(offsetof(struct park_mailbox, cr3) == PARK_CR3);
static_assert(offsetof(struct park_mailbox, stack) == PARK_STACK);
static_assert(offsetof(struct park_mailbox, params) == PARK_PARAMS);
static_assert(offsetof(struct park_mailbox, entry) == PARK_ENTRY);
static_assert(offsetof(struct park_mailbox, index) == PARK_INDEX);

static DEFINE_PER_CPU(struct park_area *, park_area);
/* The CPU that give_back() puts on-line, which the veto lets pass; or -1. */
static int coming_back = -1;
static enum cpuhp_state veto_state, half_way_state;

/*
 * CPU hotplug callback: makes the calling CPU, which goes down, wake up in park_nmi(), if it is
 * being lent. It runs on that CPU, which nothing can stop any more on its way to play_dead().
 *
 * Linux gives modules no state of their own for callbacks on that CPU itself. The one of ARM's
 * timer is always free here; should it not be, then the module does not load.
 */
#define PARKING CPUHP_AP_ARM_ARCH_TIMER_STARTING

static int park(unsigned int cpu)
{
	struct park_area *area = per_cpu(park_area, cpu);

	if (area && area->seat == SEAT_TAKING) {
		unsigned long stub = (unsigned long)park_nmi;
		gate_desc *gate = &area->idt[X86_TRAP_NMI];
		struct desc_ptr idt;

		store_idt(&idt);
		memcpy(area->idt, (void *)idt.address,
		       min_t(size_t, idt.size + 1, sizeof(area->idt)));
		gate->offset_low = (u16)stub;
		gate->offset_middle = (u16)(stub >> 16);
		gate->offset_high = (u32)(stub >> 32);
		gate->bits.ist = 0;
		idt.address = (unsigned long)area->idt;
		idt.size = sizeof(area->idt) - 1;
		native_load_idt(&idt);
		WRITE_ONCE(area->seat, SEAT_PARKED);
	}
	return 0;
}

u32 cpu_apicid(unsigned int cpu)
{
	return per_cpu(x86_cpu_to_apicid, cpu);
}

/* Sends one CPU an IPI; 'what' are the bits of the ICR. Any context. */
static void send(unsigned int cpu, u32 what)
{
	unsigned long flags;

	/* The ICR of an xAPIC is two registers and must be idle before it is written. */
	local_irq_save(flags);
	if (apic->wait_icr_idle)
		apic->wait_icr_idle();
	/* An x2APIC has an MSR there, whose write does not wait until others see earlier stores. */
	weak_wrmsr_fence();
	apic->icr_write(what, cpu_apicid(cpu));
	local_irq_restore(flags);
}

void cpus_stop_all(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct park_area *area = per_cpu(park_area, cpu);

		if (area && READ_ONCE(area->seat) >= SEAT_PARKED)
			send(cpu, APIC_INT_LEVELTRIG | APIC_INT_ASSERT | APIC_DM_INIT);
	}
}

/* CPU hotplug callback: keeps lent CPUs off-line. */
static int veto_online(unsigned int cpu)
{
	struct lent_to to;

	if (READ_ONCE(coming_back) == (int)cpu || !ledger_has_cpu(cpu, &to))
		return 0;
	if (to.instance == LWKPART_NO_INSTANCE)
		pr_warn_ratelimited(
			"CPU %u stays off-line: it is lent out, though no LWK has it; give it back with LWKPART_RETURN_CPU ('lwkctl status' shows what is lent)\n",
			cpu);
	else
		pr_warn_ratelimited(
			"CPU %u stays off-line: it is lent to the LWK of job %u (instance %u); it comes back when that job ends\n",
			cpu, to.job_id, to.instance);
	return -EBUSY;
}

/*
 * CPU hotplug callback, on a CPU that comes back and runs no program yet. The programs of the LWK
 * have taught its branch predictors, and Linux believes that its own last program has. A CPU that
 * is only to be parked turns round here, before the scheduler gives it tasks, and before anybody
 * hears of it.
 */
static int half_way(unsigned int cpu)
{
	struct park_area *area = per_cpu(park_area, cpu);

	if (!area)
		return 0;
	if (boot_cpu_has(X86_FEATURE_IBPB))
		native_wrmsrq(MSR_IA32_PRED_CMD, PRED_CMD_IBPB);
	if (READ_ONCE(area->seat) != SEAT_AGAIN)
		return 0;
	/* A CPU that is wanted on-line once it is parked must find the veto again. */
	WRITE_ONCE(coming_back, -1);
	WRITE_ONCE(area->seat, SEAT_TAKING);
	return -ECANCELED;
}

/* PM callback: suspend and hibernation would lose the state of CPUs that Linux does not see. */
static int veto_sleep(struct notifier_block *nb, unsigned long event, void *data)
{
	if (event != PM_SUSPEND_PREPARE && event != PM_HIBERNATION_PREPARE)
		return NOTIFY_DONE;
	if (ledger_is_empty())
		return NOTIFY_DONE;
	pr_warn("the machine cannot be suspended while CPUs or memory are lent to LWKs; end the LWK jobs first ('lwkctl status' lists them)\n");
	return notifier_from_errno(-EBUSY);
}

static struct notifier_block sleep_notifier = { .notifier_call = veto_sleep };

/*
 * Linux ends, by a reboot, a kexec or a panic: an LWK that went on would write into others' memory.
 */
static int stop_with_linux(struct notifier_block *nb, unsigned long event, void *data)
{
	cpus_stop_all();
	return NOTIFY_DONE;
}

static struct notifier_block end_notifier = { .notifier_call = stop_with_linux };
static struct notifier_block panic_notifier = { .notifier_call = stop_with_linux };

/*
 * Parks an on-line CPU whose park area is in place. Returns 0, or an error that leaves the CPU
 * as it was: -ENODEV when it is not on-line, -EBUSY when Linux does not let it go.
 */
static int take(unsigned int cpu)
{
	struct park_area *area = per_cpu(park_area, cpu);
	int error;

	memset(&area->mailbox, 0, sizeof(area->mailbox));
	WRITE_ONCE(area->seat, SEAT_TAKING);
	error = remove_cpu(cpu);
	/* A CPU that another caller took down (error 1) came through our callback, too. */
	if (READ_ONCE(area->seat) == SEAT_PARKED)
		return 0;
	WRITE_ONCE(area->seat, SEAT_LINUX);
	if (error == 1)
		return -ENODEV;
	pr_warn("CPU %u was to be taken from Linux, which did not let it go (error %d); see the kernel's messages just above, and whether something is bound to that CPU\n",
		cpu, error);
	return -EBUSY;
}

/* Puts an off-line CPU on-line. After a negative error the CPU is still lent. */
static int give_back(unsigned int cpu)
{
	int error;

	WRITE_ONCE(coming_back, cpu);
	error = add_cpu(cpu);
	WRITE_ONCE(coming_back, -1);
	if (error < 0) {
		pr_err("CPU %u was to go back to Linux, which did not get it on-line (error %d); it stays in the ledger: try LWKPART_RETURN_CPU again, or reboot\n",
		       cpu, error);
		return error;
	}
	WRITE_ONCE(per_cpu(park_area, cpu)->seat, SEAT_LINUX);
	return 0;
}

int cpu_lend(unsigned int cpu)
{
	struct park_area *area;
	int error;

	if (cpu == 0)
		return -EPERM; /* Linux needs CPU 0 for its timer and for calls of the firmware */
	if (cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return -ENODEV;
	if (ledger_find_cpu(cpu))
		return -EALREADY;
	if (!cpu_online(cpu))
		return -ENODEV;
	area = kzalloc_node(sizeof(*area), GFP_KERNEL, cpu_to_node(cpu));
	if (!area)
		return -ENOMEM;
	/* From here on the veto keeps the CPU off-line. */
	error = ledger_add_cpu(cpu);
	if (error)
		goto free_area;
	per_cpu(park_area, cpu) = area;
	/* Cpusets may have been mounted since the module was loaded. */
	trick_keep_cpusets();
	error = take(cpu);
	if (error)
		goto remove;
	return 0;

remove:
	per_cpu(park_area, cpu) = NULL;
	ledger_remove_cpu(ledger_find_cpu(cpu));
free_area:
	kfree(area);
	return error;
}

int cpu_return(unsigned int cpu)
{
	struct lent_cpu *lent = ledger_find_cpu(cpu);
	struct park_area *area;
	int error;

	if (!lent)
		return -ENOENT;
	if (is_assigned(&lent->to))
		return -EBUSY;
	area = per_cpu(park_area, cpu);
	if (area->seat != SEAT_LINUX) {
		error = give_back(cpu);
		if (error)
			return error;
	}
	per_cpu(park_area, cpu) = NULL;
	kfree(area);
	ledger_remove_cpu(lent);
	return 0;
}

/*
 * Parks a stopped CPU by half a way up to Linux and back. False when it did not: then it is as
 * before, or on-line.
 */
static bool park_again(unsigned int cpu)
{
	struct park_area *area = per_cpu(park_area, cpu);
	int error;

	memset(&area->mailbox, 0, sizeof(area->mailbox));
	WRITE_ONCE(area->seat, SEAT_AGAIN);
	WRITE_ONCE(coming_back, cpu);
	error = add_cpu(cpu);
	WRITE_ONCE(coming_back, -1);
	if (error < 0 && READ_ONCE(area->seat) == SEAT_PARKED)
		return true;
	WRITE_ONCE(area->seat, error < 0 ? SEAT_STOPPED : SEAT_LINUX);
	return false;
}

int cpu_make_ready(unsigned int cpu)
{
	struct park_area *area = per_cpu(park_area, cpu);
	int error;

	if (area->seat == SEAT_PARKED)
		return 0;
	if (area->seat == SEAT_STOPPED && compat_cpu_turns_round() && park_again(cpu))
		return 0;
	if (area->seat != SEAT_LINUX) {
		error = give_back(cpu);
		if (error)
			return error;
	}
	return take(cpu);
}

void cpu_start(unsigned int cpu, const struct cpu_entry *entry)
{
	struct park_area *area = per_cpu(park_area, cpu);
	struct park_mailbox *mailbox = &area->mailbox;

	mailbox->cr3 = entry->page_root;
	mailbox->stack = entry->stack;
	mailbox->params = entry->params;
	mailbox->entry = entry->address;
	mailbox->index = entry->index;
	WRITE_ONCE(area->seat, SEAT_STARTED);
	smp_store_release(&mailbox->go, 1);
	send(cpu, APIC_DM_NMI);
}

int cpu_started(unsigned int cpu)
{
	const struct park_mailbox *mailbox = &per_cpu(park_area, cpu)->mailbox;
	unsigned long deadline = jiffies + NMI_TIMEOUT;
	bool late;

	/* A virtual machine's CPUs may all stand still for long: the last look is after the time. */
	do {
		late = time_after(jiffies, deadline);
		if (smp_load_acquire(&mailbox->gone))
			return 0;
		usleep_range(20, 100);
	} while (!late);
	pr_err("CPU %u was to start an LWK, but did not answer the NMI within %d s; give it back to Linux to reset it\n",
	       cpu, NMI_TIMEOUT / HZ);
	return -ETIMEDOUT;
}

void cpu_nmi(unsigned int cpu)
{
	if (per_cpu(park_area, cpu)->seat == SEAT_STARTED)
		send(cpu, APIC_DM_NMI);
}

void cpu_stop(const struct lwk_boot_cpu *cpus, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (per_cpu(park_area, cpus[i].linux_cpu)->seat == SEAT_STARTED)
			send(cpus[i].linux_cpu,
			     APIC_INT_LEVELTRIG | APIC_INT_ASSERT | APIC_DM_INIT);
	/*
	 * The MultiProcessor Specification 1.4, B.4, gives an INIT 10 ms to take effect.
	 * Nothing reports that it has, and the memory may go to another owner afterwards.
	 */
	msleep(10);
	for (i = 0; i < count; i++) {
		struct park_area *area = per_cpu(park_area, cpus[i].linux_cpu);

		if (area->seat != SEAT_STARTED)
			continue;
		send(cpus[i].linux_cpu, APIC_INT_LEVELTRIG | APIC_DM_INIT);
		WRITE_ONCE(area->seat, SEAT_STOPPED);
	}
}

u64 cpu_stub_address(void)
{
	return (u64)park_nmi;
}

int cpus_init(void)
{
	int error;

	if (compat_memory_is_encrypted()) {
		pr_err("memory encryption is on, and an LWK cannot read encrypted memory; boot Linux with mem_encrypt=off\n");
		return -EOPNOTSUPP;
	}
	if (native_read_cr4() & CR4_FRED) {
		pr_err("Linux uses FRED, so a parked CPU cannot be woken through its IDT; boot Linux with fred=off\n");
		return -EOPNOTSUPP;
	}
	error = register_pm_notifier(&sleep_notifier);
	if (error)
		return error;
	error = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "lwkpart:veto", veto_online, NULL);
	if (error < 0)
		goto fail_veto;
	veto_state = error;
	error = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "lwkpart:half_way", half_way, NULL);
	if (error < 0)
		goto fail_half_way;
	half_way_state = error;
	error = cpuhp_setup_state_nocalls(PARKING, "lwkpart:park", NULL, park);
	if (error)
		goto fail_park;
	error = register_reboot_notifier(&end_notifier);
	if (error)
		goto fail_end;
	atomic_notifier_chain_register(&panic_notifier_list, &panic_notifier);
	return 0;

fail_end:
	cpuhp_remove_state_nocalls(PARKING);
fail_park:
	cpuhp_remove_state_nocalls(half_way_state);
fail_half_way:
	cpuhp_remove_state_nocalls(veto_state);
fail_veto:
	unregister_pm_notifier(&sleep_notifier);
	return error;
}

void cpus_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_notifier);
	unregister_reboot_notifier(&end_notifier);
	cpuhp_remove_state_nocalls(PARKING);
	cpuhp_remove_state_nocalls(half_way_state);
	cpuhp_remove_state_nocalls(veto_state);
	unregister_pm_notifier(&sleep_notifier);
}
